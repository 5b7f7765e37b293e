// The user by which a hub of sensors signs in to the box.

import { useSignal } from "@preact/signals";
import { call, Refusal } from "../api";
import { refusal } from "../text";
import { su } from "../words/setup";
import { Link } from "./code";

interface Made {
  name: string;
  password: string;
  server: string; // mqtt://192.168.1.20:1883
  topic: string; // the base topic of the hub
}

/** Makes a user for a hub and shows it, once. */
export function BridgeUser({ home }: { home: number }) {
  const made = useSignal<Made | undefined>(undefined);
  const wrong = useSignal("");
  const busy = useSignal(false);
  const known = useSignal(false); // the hub has a user
  const make = async () => {
    busy.value = true;
    wrong.value = "";
    try {
      made.value = await call<Made>("POST", "/web/v1/bridge-user", { network_id: home, replace: known.value });
      known.value = false;
    } catch (e) {
      known.value = e instanceof Refusal && e.code === "bridge_user";
      if (!known.value) wrong.value = refusal(e);
    }
    busy.value = false;
  };
  return (
    <div class="su-bridge">
      <p><strong>{su("suBridgeUser")}</strong> <small>{su("suBridgeUserHelp")}</small></p>
      {known.value && <p role="status">{su("suBridgeUserKnown")}</p>}
      {made.value ? <Once made={made.value} /> : <div class="row"><button disabled={busy.value} onClick={make}>{su(known.value ? "suBridgeUserAgain" : "suBridgeUserMake")}</button></div>}
      <p class="wrong" role="alert">{wrong}</p>
    </div>
  );
}

const Once = ({ made }: { made: Made }) => (
  <div class="su-once">
    <p role="status">{su("suBridgeUserOnce")}</p>
    {([["suBridgeServer", made.server], ["suBridgeName", made.name], ["suBridgePassword", made.password], ["suBridgeTopic", made.topic]] as const).map(([name, value]) => (
      <div key={name}><h3>{su(name)}</h3><Link link={value} label={su(name)} /></div>
    ))}
  </div>
);
