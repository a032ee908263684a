/** Who this adapter is: the harness's name on the wire and in paths, and its title for people. */

export const HARNESS = "opencode";
export const TITLE = "OpenCode";
