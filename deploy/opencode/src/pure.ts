/** The adapter's pure functions, for whoever wants to compare them with the service's. */

import { apply as applyTo, type Edits } from "@annals/adapter-core/apply";
import type { Entry } from "./harness.ts";
import { SHAPE } from "./shape.ts";

export { routed } from "@annals/adapter-core/actions";
export { ContextKeeper, HandOver, mayCompact } from "@annals/adapter-core/compaction";
export { target } from "@annals/adapter-core/language";
export { mask } from "@annals/adapter-core/mask";
export * as modes from "@annals/adapter-core/modes";
export { problemOf, Seeker, spellingsIn, without } from "@annals/adapter-core/orders";
export { taken } from "@annals/adapter-core/pages";
export { inboundMessages } from "@annals/adapter-core/pieces";
export { pixels } from "@annals/adapter-core/pixels";
export { refusalOf } from "@annals/adapter-core/placeholders";
export { Starts } from "@annals/adapter-core/starts";
export { token } from "@annals/adapter-core/subjects";
export { adjusted, dateOf, digestOf, isHelper } from "@annals/adapter-core/system";
export { withoutTags } from "@annals/adapter-core/tags";
export { replacePrompt } from "./compacting.ts";
export { Known } from "./known.ts";
export { rivalOf } from "./rivals.ts";
export * as rules from "./rules.ts";
export { governed } from "./switches.ts";
export { isSigned } from "./thinking.ts";
export { entry, isQuotedArgument } from "./translate.ts";

export const apply = (entries: readonly Entry[], edits: Edits, foreign: readonly string[] = []) =>
  applyTo(entries, edits, SHAPE, (id) => foreign.includes(id));
