import { common } from "./common.en";
import { errand } from "./errand.en";
import { event } from "./event.en";
import { history } from "./history.en";
import { home } from "./home.en";
import { inbox } from "./inbox.en";
import { live } from "./live.en";
import { me } from "./me.en";
import { moment } from "./moment.en";
import type { box } from "./box.en";
import type { rest } from "./rest.en";

/** The messages that are there from the beginning, in English. */
export const first = { ...common, ...errand, ...event, ...history, ...home, ...inbox, ...live, ...me, ...moment };

/** Every message: the other languages have the same. */
export type Messages = typeof first & typeof rest & typeof box;
