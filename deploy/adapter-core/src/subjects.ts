/** Subjects of the broker, spelled as the service spells them. */

const PLAIN = /[A-Za-z0-9_-]/;

/** The subject token of any id: letters, digits, `-` and `_` stay, other bytes become `=XX`, nothing becomes `_`. */
export function token(identifier: string): string {
  if (identifier === "") return "_";
  if (identifier === "_") return "=5F";
  return Array.from(new TextEncoder().encode(identifier), (byte) => {
    const character = String.fromCharCode(byte);
    return PLAIN.test(character) ? character : `=${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  }).join("");
}

export const inbound = (harness: string, project: string, session: string) =>
  `in.${token(harness)}.${token(project)}.${token(session)}`;

export const command = (project: string, session: string, type: string) =>
  `do.${token(project)}.${token(session)}.${type}`;

export const ask = (question: string, project: string) => `ask.${question}.${token(project)}`;
