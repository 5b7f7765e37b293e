import { useSignal } from "@preact/signals";
import { AdoptionWindow, deviceName, DeviceList, Heard, PlaceForm, removeDevice, roomsOf, troubled, useDevices, Why, type Device, type Devices } from "../part/devicelist";
import { useInstallation } from "../part/installation";
import { linkName, useLinks } from "../part/linklist";
import { Arrives } from "../part/othernode";
import { Waiting } from "../part/page";
import { figure, mayInstall, SetupPage, useClock, type SetupProps } from "../part/setup";
import type { Answer } from "../answer";
import { go, place, to } from "../route";
import { refusal } from "../text";
import { su, suCode, suCounted } from "../words/setup";

/** The devices of the home, or the one that the address names. */
export function Screen(props: SetupProps) {
  if (!mayInstall(props)) return <SetupPage {...props} title="suDevices"><p class="note">{su("suOwnerOnly")}</p></SetupPage>;
  return <Shown {...props} />;
}

function Shown(props: SetupProps) {
  const answer = useDevices(props.home);
  useInstallation(props.home, { devices: answer.again });
  const [kind, id] = place.value.rest;
  if (id) return <One key={kind + id} {...props} answer={answer} device={answer.value?.devices.find((d) => d.kind === kind && String(d.id) === id)} />;
  return (
    <SetupPage {...props} title="suDevices" truth={truth(answer.value)}>
      <AdoptionWindow home={props.home} answer={answer} />
      <DeviceList home={props.home} answer={answer} />
    </SetupPage>
  );
}

/** How the devices are, in a sentence. */
function truth(answer: Devices | undefined): string {
  const known = answer?.devices.filter((d) => d.state !== "waiting") ?? [];
  if (!answer || known.length === 0) return "";
  const bad = known.filter(troubled).length;
  if (bad > 0) return suCounted("suFaulty", bad, { total: known.length });
  return known.length === 1 ? su("suOneFine") : su("suAllFine", { n: known.length });
}

/** One device: how it is, what it is called, its links, and its end. */
function One({ answer, device, ...props }: SetupProps & { answer: Answer<Devices>; device: Device | undefined }) {
  const links = useLinks(props.home, 10);
  const wrong = useSignal("");
  const saved = useSignal("");
  const now = useClock(answer.value?.ts);
  const back = <p><a href={to("devices")}>{su("suBack")}</a></p>;
  if (!device) {
    return (
      <SetupPage {...props} title="suDevices">
        {answer.value ? <p class="note">{su("suGone")}</p> : <Waiting answer={answer} />}
        {back}
      </SetupPage>
    );
  }
  const remove = async () => {
    wrong.value = "";
    try {
      if (await removeDevice(props.home, device)) go("devices");
    } catch (e) {
      wrong.value = refusal(e);
    }
  };
  const done = async () => {
    await answer.again();
    saved.value = su("suSaved");
  };
  const own = links.value?.links.filter((l) => device.id !== null && (l.from.id === device.id || l.to.id === device.id)) ?? [];
  return (
    <SetupPage {...props} title="suDevices" truth={deviceName(device)}>
      {answer.refusal && <Waiting answer={answer} />}
      <section class={"su-one su-" + (troubled(device) ? "bad" : device.state)}>
        <p><span class="su-sign" aria-hidden="true" /> <strong class="su-state">{suCode("suState_", device.state)}</strong> <Heard device={device} now={now} /></p>
        {device.node ? <Arrives node={device.node} name="" why={device.why} known={answer.value?.devices}><Why device={device} /></Arrives> : <Why device={device} />}
        <dl class="su-figures">
          <div><dt>{su("suDeviceId")}</dt><dd>{device.device_id}</dd></div>
          {device.address && <div><dt>{su("suAddress")}</dt><dd>{device.address}</dd></div>}
          {device.rate !== null && <div><dt>{su("suFrames")}</dt><dd>{su("suRate", { n: figure(device.rate) })}</dd></div>}
          {device.rssi !== null && <div><dt>{su("suSignal")}</dt><dd>{figure(device.rssi, 0)}&nbsp;dBm</dd></div>}
        </dl>
      </section>
      <section class="su-part">
        <h2>{su("suEdit")}</h2>
        <PlaceForm key={device.name + device.room} home={props.home} device={device} rooms={roomsOf(answer.value?.devices ?? [])} done={done} />
        <p role="status">{saved}</p>
      </section>
      {own.length > 0 && (
        <section class="su-part">
          <h2>{su("suLinks")}</h2>
          <ul class="su-links">{own.map((l) => <li key={l.id} class={"su-" + l.can}><span class="su-sign" aria-hidden="true" /><p class="su-what"><a href={to("links", l.id)}>{linkName(l)}</a> <span class="su-state">{suCode("suCan_", l.can)}</span></p></li>)}</ul>
        </section>
      )}
      <section class="su-part">
        <p class="wrong" role="alert">{wrong}</p>
        <div class="row"><button class="bad" onClick={remove}>{su("suRemove")}</button></div>
      </section>
      {back}
    </SetupPage>
  );
}
