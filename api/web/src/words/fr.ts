import { alerts } from "./alerts.fr";
import { common } from "./common.fr";
import { errand } from "./errand.fr";
import { event } from "./event.fr";
import { firstrun } from "./firstrun.fr";
import { history } from "./history.fr";
import { home } from "./home.fr";
import { inbox } from "./inbox.fr";
import { live } from "./live.fr";
import { me } from "./me.fr";
import { moment } from "./moment.fr";
import { people } from "./people.fr";
import { reason } from "./reason.fr";
import { rooms } from "./rooms.fr";
import { setup } from "./setup.fr";
import type { Messages } from "./en";
import type { box } from "./box.en";

export const messages: Omit<Messages, keyof typeof box> = { ...alerts, ...common, ...errand, ...event, ...firstrun, ...history, ...home, ...inbox, ...live, ...me, ...moment, ...people, ...reason, ...rooms, ...setup };
