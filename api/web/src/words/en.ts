import { alerts } from "./alerts.en";
import { common } from "./common.en";
import { errand } from "./errand.en";
import { event } from "./event.en";
import { history } from "./history.en";
import { home } from "./home.en";
import { inbox } from "./inbox.en";
import { live } from "./live.en";
import { me } from "./me.en";
import { moment } from "./moment.en";
import { people } from "./people.en";
import { rooms } from "./rooms.en";

/** Every message, in English: the other languages have the same. */
export const messages = { ...alerts, ...common, ...errand, ...event, ...history, ...home, ...inbox, ...live, ...me, ...moment, ...people, ...rooms };

export type Messages = typeof messages;
