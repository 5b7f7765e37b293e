import { alerts } from "./alerts.fr";
import { common } from "./common.fr";
import { event } from "./event.fr";
import { history } from "./history.fr";
import { home } from "./home.fr";
import { inbox } from "./inbox.fr";
import { me } from "./me.fr";
import { moment } from "./moment.fr";
import type { Messages } from "./en";

export const messages: Messages = { ...alerts, ...common, ...event, ...history, ...home, ...inbox, ...me, ...moment };
