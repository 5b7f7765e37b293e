import { alerts } from "./alerts.en";
import { common } from "./common.en";
import { event } from "./event.en";
import { home } from "./home.en";
import { inbox } from "./inbox.en";
import { me } from "./me.en";

/** Every message, in English: the other languages have the same. */
export const messages = { ...alerts, ...common, ...event, ...home, ...inbox, ...me };

export type Messages = typeof messages;
