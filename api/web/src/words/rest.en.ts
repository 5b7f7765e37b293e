import { alerts } from "./alerts.en";
import { errand } from "./errand.en";
import { firstrun } from "./firstrun.en";
import { history } from "./history.en";
import { inbox } from "./inbox.en";
import { live } from "./live.en";
import { me } from "./me.en";
import { moment } from "./moment.en";
import { people } from "./people.en";
import { reason } from "./reason.en";
import { rooms } from "./rooms.en";
import { setup } from "./setup.en";

/** The messages of screens that are fetched when they are opened. */
export const rest = { ...alerts, ...errand, ...firstrun, ...history, ...inbox, ...live, ...me, ...moment, ...people, ...reason, ...rooms, ...setup };
