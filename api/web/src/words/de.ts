import { alerts } from "./alerts.de";
import { common } from "./common.de";
import { errand } from "./errand.de";
import { event } from "./event.de";
import { firstrun } from "./firstrun.de";
import { history } from "./history.de";
import { home } from "./home.de";
import { inbox } from "./inbox.de";
import { live } from "./live.de";
import { me } from "./me.de";
import { moment } from "./moment.de";
import { people } from "./people.de";
import { reason } from "./reason.de";
import { rooms } from "./rooms.de";
import { setup } from "./setup.de";
import type { Messages } from "./en";
import type { box } from "./box.en";

export const messages: Omit<Messages, keyof typeof box> = { ...alerts, ...common, ...errand, ...event, ...firstrun, ...history, ...home, ...inbox, ...live, ...me, ...moment, ...people, ...reason, ...rooms, ...setup };
