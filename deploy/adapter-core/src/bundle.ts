/** The bundle that an adapter runs from: by its digest `annals doctor` sees whether it is the installed one. */

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The text of a file that was installed next to the bundle at this address. Throws where there is none. */
export const nextToBundle = (address: string, name: string) =>
  readFileSync(fileURLToPath(new URL(name, address)), "utf8");

/** sha256 of the file at this address in hex; empty where it cannot be read. */
export function digestOfBundle(address: string): string {
  try {
    return createHash("sha256")
      .update(readFileSync(fileURLToPath(address)))
      .digest("hex");
  } catch {
    return "";
  }
}
