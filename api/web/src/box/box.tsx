import type { ComponentType } from "preact";
import { useStyle } from "../part/style";
import { place } from "../route";
import { Accounts } from "./accounts";
import { Audit } from "./audit";
import { Backup } from "./backup";
import { Database } from "./database";
import { Devices } from "./devices";
import { Keys } from "./keys";
import { Log } from "./log";
import { Mails } from "./mails";
import { MqttUsers } from "./mqtt";
import { Recordings } from "./record";
import { Secure } from "./secure";
import { Settings } from "./settings";
import { SetupCode } from "./setupcode";
import { Status } from "./status";
import { Uplinks } from "./uplinks";

const parts: Record<string, ComponentType> = {
  "": Status, backup: Backup, accounts: Accounts, keys: Keys, mqtt: MqttUsers, mails: Mails, code: SetupCode, devices: Devices, audit: Audit, settings: Settings, secure: Secure, log: Log, database: Database, record: Recordings, uplinks: Uplinks,
};

/** The part of the box that the address names. */
export function Screen() {
  const styled = useStyle("box.css");
  const name = place.value.rest[0] ?? "";
  const Part = parts[name] ?? Status;
  return styled ? <Part key={name} /> : <main class="screen" aria-busy="true" />;
}
