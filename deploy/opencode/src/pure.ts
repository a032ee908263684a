/** The adapter's pure functions, for whoever wants to compare them with the service's. */

export { apply } from "./apply.ts";
export { target } from "./language.ts";
export { mask } from "./mask.ts";
export { letters } from "./pieces.ts";
export { token } from "./subjects.ts";
export { adjusted, dateOf, digestOf, isHelper } from "./system.ts";
export { entry } from "./translate.ts";
