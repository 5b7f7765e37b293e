import { common } from "./common.en";
import { event } from "./event.en";
import { home } from "./home.en";
import type { box } from "./box.en";
import type { rest } from "./rest.en";

/** The messages that are there from the beginning, in English. */
export const first = { ...common, ...event, ...home };

/** Every message: the other languages have the same. */
export type Messages = typeof first & typeof rest & typeof box;
