/** Files of the adapter's own: for their owner alone, and never where a link of somebody's leads. */

import {
  appendFileSync,
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  ftruncateSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";

const OWNERS = 0o600;
const OWNERS_FOLDER = 0o700;
const { O_APPEND, O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;

/** A folder that only its owner may enter. One that is open to others is corrected, unless a person has linked it. */
export function makeFolder(path: string): void {
  mkdirSync(path, { recursive: true, mode: OWNERS_FOLDER });
  const found = lstatSync(path);
  const isOurs = found.isDirectory() && found.uid === process.geteuid?.();
  if (isOurs && (found.mode & 0o777) !== OWNERS_FOLDER) chmodSync(path, OWNERS_FOLDER);
}

/** The text of a file. Throws for a link, for what is no file, and where there is none; a pipe is not waited for. */
export const readOwn = (path: string): string => readOwnBytes(path).toString();

/** The same as bytes. */
export function readOwnBytes(path: string): Buffer {
  const file = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    if (!fstatSync(file).isFile()) throw notAFile(path);
    return readFileSync(file);
  } finally {
    closeSync(file);
  }
}

/** Put a text behind what the file holds. Throws for a link, and for what is no file. */
export function appendOwn(path: string, text: string): void {
  const file = opened(path, O_APPEND);
  try {
    appendFileSync(file, text);
  } finally {
    closeSync(file);
  }
}

/** A descriptor of a file that is empty at first. Throws for a link, for what is no file, and for a file of two names. */
export function openEmpty(path: string): number {
  const file = opened(path, 0);
  try {
    if (fstatSync(file).nlink > 1) throw new Error(`${path} is a file of another name, too: ${REMEDY}`);
    ftruncateSync(file); // not before it is known what it is: its content is nobody's to lose
    return file;
  } catch (error) {
    closeSync(file);
    throw error;
  }
}

/** Make a file with this text, unless there is one of its name; whether it was made. */
export function makeOwn(path: string, text: string): boolean {
  let file: number;
  try {
    file = opened(path, O_EXCL);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
  try {
    writeFileSync(file, text);
  } catch (error) {
    rmSync(path, { force: true });
    throw error;
  } finally {
    closeSync(file);
  }
  return true;
}

/** Put a text in the place of the file, all of it or nothing; `draft` is next to it meanwhile. */
export function writeOwn(path: string, text: string | Uint8Array, draft = `${path}.draft`): void {
  try {
    rmSync(draft, { force: true }); // what a killed process left, or a link that somebody put there
    const file = opened(draft, O_EXCL);
    try {
      writeFileSync(file, text);
    } finally {
      closeSync(file);
    }
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true }); // half a draft takes the room that a full disk has left
    throw error;
  }
}

function opened(path: string, flags: number): number {
  const file = openSync(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | flags, OWNERS);
  try {
    const found = fstatSync(file);
    if (!found.isFile()) throw notAFile(path);
    if ((found.mode & 0o777) !== OWNERS) fchmodSync(file, OWNERS);
    return file;
  } catch (error) {
    closeSync(file);
    throw error;
  }
}

const REMEDY = "see who put it there, and remove it";
const notAFile = (path: string) => new Error(`${path} is no file: ${REMEDY}`);
