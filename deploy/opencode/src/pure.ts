/** The adapter's pure functions, for whoever wants to compare them with the service's. */

export { apply } from "./apply.ts";
export { target } from "./language.ts";
export { mask } from "./mask.ts";
export * as modes from "./modes.ts";
export { taken } from "./pages.ts";
export { letters } from "./pieces.ts";
export { rivalOf } from "./rivals.ts";
export { token } from "./subjects.ts";
export { adjusted, dateOf, digestOf, isHelper } from "./system.ts";
export { isSigned } from "./thinking.ts";
export { entry } from "./translate.ts";
