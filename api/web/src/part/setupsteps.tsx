// The steps of the first run that show devices and the walk test.

import { useAnswer } from "../answer";
import { AdoptionWindow, DeviceList, roomsOf, useDevices } from "./devicelist";
import { Checks, useTooLong } from "./setupclaim";
import { Frame, Onward, type Shown } from "./setupframe";
import { useSetupStyle } from "./setup";
import { placesOf, useWalk, Walk as WalkTest } from "./walk";
import { t } from "../text";

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
          <DeviceList home={shown.home} answer={answer} />
        </div>
      )}
      {late && <Checks />}
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
  const ready = styled && devices.value && links.value;
  return (
    <Frame step="walk" title={t("frWalkTitle")} home={shown.home}>
      {ready ? <div class="su-screen fr-part"><WalkTest home={shown.home} places={placesOf(links.value!.links, roomsOf(devices.value!.devices))} answer={test} ts={devices.value!.ts} /></div> : <p class="loading" aria-busy="true">{t("loading")}</p>}
      <Onward shown={shown} yes={t(test.value?.rooms?.some((r) => r.state !== "waiting") ? "goOn" : "frWithoutWalk")} main={test.value?.rooms?.some((r) => r.state === "seen")} />
    </Frame>
  );
}
