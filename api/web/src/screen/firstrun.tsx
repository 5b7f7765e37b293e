// The first run: from the code that the box shows to the first motion. The box keeps which step is
// next, so that a reload, a restart of the box or another phone goes on there.

import { useSignal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { useAnswer } from "../answer";
import { call, proof, Refusal } from "../api";
import { keepSetupCode, setupCode } from "../errand";
import { Waiting } from "../part/page";
import { Account, CodeForm } from "../part/setupaccount";
import { ClaimHome } from "../part/setupclaim";
import { Frame, type Shown } from "../part/setupframe";
import { Alive, HandedOver, HandOver } from "../part/setuphandover";
import { Devices, Walk } from "../part/setupsteps";
import { Rooms } from "../part/setuprooms";
import { go, place, to } from "../route";
import { installing, type Setup, type SetupHome, type Step } from "../setup";
import { overview, refresh } from "../state";
import { refusal, t } from "../text";

export function Screen() {
  const [signed, sign] = useState(proof() !== "");
  const out = overview.value === null;
  useEffect(() => sign(proof() !== ""), [out]);
  const begun = () => {
    sign(true);
    void refresh();
  };
  return signed ? <Signed /> : <Account done={begun} />;
}

/** The home whose setup goes on: that of the address, else one that is not finished, an own one first. */
function unfinished(homes: SetupHome[]): SetupHome | undefined {
  const named = homes.find((h) => h.id === Number(place.value.query.get("home")));
  const open = homes.filter((h) => h.step !== "");
  return named ?? open.find((h) => h.id === overview.value?.home.id) ?? open.find((h) => h.role === "owner") ?? open[0];
}

/** The steps of somebody who is signed in. */
function Signed() {
  const answer = useAnswer<Setup>("/web/v1/setup", 5);
  const code = useOwnCode(answer.value, answer.again);
  const [done, end] = useState<SetupHome | undefined>(undefined);
  const [handed, hand] = useState(0); // the home for whose next owner there is a code
  const s = answer.value;
  if (!s || code.busy) return <Frame step="home" title={t("loading")}><Waiting answer={answer} /></Frame>;
  if (done) return <Alive home={done} />;
  const given = handed ? s.homes.find((h) => h.id === handed) : undefined;
  if (handed && given?.role !== "owner") return <HandedOver home={given} />;
  const home = unfinished(s.homes);
  const wrong = answer.refusal && <p class="note" role="alert">{refusal(answer.refusal)}</p>;
  if (home) return <Stage key={home.id} home={home} wrong={wrong} again={answer.again} done={() => end(home)} hand={() => hand(home.id)} />;
  if (s.code && (s.claimable.length > 0 || s.homes.length === 0)) return <ClaimHome found={s.claimable} wrong={wrong} again={answer.again} />;
  if (s.homes.length > 0 && code.wrong === "") return <Nothing />;
  return <Frame step="code" title={t("frCodeTitle")}><CodeForm said={code.wrong} send={code.show} /></Frame>;
}

/** Shows the setup code of the link for somebody who had an account already. */
function useOwnCode(s: Setup | undefined, again: () => Promise<void>) {
  const [busy, work] = useState(setupCode() !== "");
  const wrong = useSignal("");
  const show = async (code: string) => {
    try {
      await call("POST", "/web/v1/setup/code", { code });
      wrong.value = "";
    } catch (e) {
      wrong.value = e instanceof Refusal && e.status === 422 ? t("frCodeWrong") : refusal(e);
    }
    keepSetupCode("");
    await again();
    work(false);
  };
  const asked = s !== undefined;
  useEffect(() => {
    if (!s || !busy) return;
    if (!s.code) return void show(setupCode());
    keepSetupCode("");
    work(false);
  }, [asked]);
  return { busy, wrong: wrong.value, show };
}

const next: Record<Exclude<Step, "">, Step> = { devices: "rooms", rooms: "walk", walk: "handover", handover: "" };
const before: Record<string, Step> = { rooms: "devices", walk: "rooms", handover: "walk" };

/** The steps of a home that has an owner. */
function Stage({ home, wrong, again, done, hand }: { home: SetupHome; wrong: Shown["wrong"]; again: () => Promise<void>; done: () => void; hand: () => void }) {
  const busy = useSignal(false);
  const failed = useSignal("");
  useEffect(() => {
    if (home.role === "installer") installing.value = home.id;
  }, [home.role]);
  const put = async (step: Step) => {
    busy.value = true;
    failed.value = "";
    try {
      await call("PUT", "/web/v1/setup/step", { network_id: home.id, step });
      if (step === "") done();
      await Promise.all([again(), refresh()]);
    } catch (e) {
      failed.value = refusal(e);
    }
    busy.value = false;
    scrollTo(0, 0);
  };
  const step = home.step;
  if (step === "") return <Nothing />;
  const shown: Shown = {
    home,
    wrong: failed.value ? <p class="wrong" role="alert">{failed}</p> : wrong,
    busy: busy.value,
    next: () => put(next[step]),
    back: before[step] === undefined ? undefined : () => put(before[step]),
  };
  switch (step) {
    case "devices":
      return <Devices {...shown} />;
    case "rooms":
      return <Rooms {...shown} />;
    case "walk":
      return <Walk {...shown} />;
    default:
      return <HandOver {...shown} handed={hand} />;
  }
}

/** Somebody who came for a setup, and there is none to do. */
function Nothing() {
  return (
    <Frame step="done" title={t("frNothing")}>
      <p>{t("frNothingHelp")}</p>
      <p class="row">
        <button class="main" onClick={() => go("")}>{t("home")}</button>
        <a class="fr-go" href={to("devices")}>{t("setup")}</a>
      </p>
    </Frame>
  );
}
