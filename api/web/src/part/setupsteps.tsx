// The steps of the first run that show devices and the walk test.

import { useSignal } from "@preact/signals";
import { useAnswer } from "../answer";
import { call } from "../api";
import { refusal, t } from "../text";
import { AdoptionWindow, DeviceList, roomsOf, useDevices } from "./devicelist";
import { Waiting } from "./page";
import { Checks, useTooLong } from "./setupclaim";
import { Frame, Onward, type Shown } from "./setupframe";
import { useSetupStyle } from "./setup";
import { placesOf, useWalk, Walk as WalkTest } from "./walk";

/** The fourth step: devices come, one by one. */
export function Devices(shown: Shown) {
  const answer = useDevices(shown.home);
  const late = useTooLong(answer.value !== undefined && answer.value.devices.length === 0);
  const styled = useSetupStyle();
  return (
    <Frame step="devices" title={t("frDevicesTitle")} home={shown.home}>
      <p>{t("frDevicesWhy")}</p>
      {styled && (
        <div class="su-screen fr-part">
          <AdoptionWindow home={shown.home} answer={answer} />
          <DeviceList home={shown.home} answer={answer} first />
        </div>
      )}
      {late && <Checks address={shown.address} />}
      <Onward shown={shown} />
    </Frame>
  );
}

/** The sixth step: is everybody seen? */
export function Walk(shown: Shown) {
  const devices = useDevices(shown.home);
  const links = useAnswer<{ links: { zone: string; can: string }[] }>(`/web/v1/links?network_id=${shown.home.id}`, 10);
  const test = useWalk(shown.home);
  const styled = useSetupStyle();
  const wrong = useSignal("");
  const running = test.value?.running ?? false;
  const walked = test.value?.rooms.some((r) => r.state === "seen" || r.state === "unseen");
  const ready = styled && devices.value && links.value;
  const next = async () => {
    wrong.value = "";
    try {
      if (running) await call("DELETE", `/web/v1/walk-tests?network_id=${shown.home.id}`);
      await shown.next();
    } catch (e) {
      wrong.value = refusal(e);
    }
  };
  return (
    <Frame step="walk" title={t("frWalkTitle")} home={shown.home}>
      {!ready && <><Waiting answer={devices} />{!devices.refusal && <Waiting answer={links} />}</>}
      {ready && <div class="su-screen fr-part"><WalkTest home={shown.home} places={placesOf(links.value!.links, roomsOf(devices.value!.devices))} answer={test} ts={devices.value!.ts} /></div>}
      <Onward shown={wrong.value ? { ...shown, wrong: <p class="wrong" role="alert">{wrong}</p> } : shown} yes={t(walked ? "goOn" : "frWithoutWalk")} main={walked && !running} run={next} />
    </Frame>
  );
}
