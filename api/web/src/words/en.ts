import { common } from "./common.en";
import { errand } from "./errand.en";
import { event } from "./event.en";
import { history } from "./history.en";
import { home } from "./home.en";
import { inbox } from "./inbox.en";
import { live } from "./live.en";
import { me } from "./me.en";
import type { more } from "./more.en";
import { moment } from "./moment.en";
import { people } from "./people.en";

/** The messages in English that the first view may need; the others are in more.en.ts. */
export const messages = { ...common, ...errand, ...event, ...history, ...home, ...inbox, ...live, ...me, ...moment, ...people };

/** Every message: the other languages have the same. */
export type Messages = typeof messages & typeof more;
