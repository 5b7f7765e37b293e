// The first run: from the code that the box shows to the first motion. The box keeps which step is
// next, so that a reload, a restart of the box or another phone goes on there.

import { useSignal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
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
import { go, goInstead, place, replace, to } from "../route";
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
  const [handed, hand] = useState(0); // the home for whose next owner there is a code
  const s = answer.value;
  if (!s || code.busy) return <Frame step="home" title={t("loading")}><Waiting answer={answer} /></Frame>;
  const given = handed ? s.homes.find((h) => h.id === handed) : undefined;
  if (handed && given?.role !== "owner") return <HandedOver home={given} />;
  const home = unfinished(s.homes);
  const wrong = answer.refusal && <p class="note" role="alert">{refusal(answer.refusal)}</p>;
  if (home?.step === "") return home.role === "owner" ? <Alive home={home} /> : <HandedOver home={home} />;
  if (home) return <Stage key={home.id} home={home} address={s.address} wrong={wrong} again={answer.again} hand={() => hand(home.id)} />;
  if (s.code && (s.claimable.length > 0 || s.homes.length === 0)) return <ClaimHome found={s.claimable} address={s.address} wrong={wrong} again={answer.again} />;
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

const order = Object.keys(next);

/**
 * Keeps the step in the address, so that the phone's way back leads to the step before, and from the
 * first one into the app. put changes the step, and says whether it has. Returns a way one step back.
 */
function useSteps(home: SetupHome, put: (step: Step) => Promise<boolean>): (step: Step) => void {
  const at = place.value.rest[0] as Step | undefined;
  const last = useRef(at);
  const named = useRef(at); // what the address says by us
  const trail = useRef<string[]>([]); // steps that the way back leads to, this one last
  const name = (anew: boolean) => {
    const address = `#/setup/${home.step}?home=${home.id}`;
    named.current = home.step;
    if (anew) location.hash = address;
    else replace(address);
  };
  useEffect(() => {
    if (at === home.step) {
      if (trail.current.at(-1) !== at) trail.current = [at];
      return;
    }
    const forth = at === undefined || order.indexOf(home.step) > order.indexOf(at);
    trail.current = forth ? [...trail.current, home.step] : [home.step];
    name(forth);
  }, [home.step]);
  useEffect(() => {
    if (at === last.current) return;
    last.current = at;
    if (at === named.current) return;
    named.current = at;
    if (at === undefined || !order.includes(at)) return goInstead(home.role === "owner" ? "" : "installs");
    trail.current = trail.current.slice(0, trail.current.lastIndexOf(at) + 1);
    if (at !== home.step) void put(at).then((done) => done || name(false));
  }, [at]);
  return (step) => void (trail.current.at(-2) === step ? history.back() : put(step));
}

/** The steps of a home that has an owner. */
function Stage({ home, address, wrong, again, hand }: { home: SetupHome; address: string; wrong: Shown["wrong"]; again: () => Promise<void>; hand: () => void }) {
  const busy = useSignal(false);
  const failed = useSignal("");
  const [done, finish] = useState(false); // an installer has done their part: whose home it is, its owner says
  const installs = home.role === "installer";
  useEffect(() => {
    if (home.role === "installer") installing.value = home.id;
  }, [home.role]);
  const put = async (step: Step) => {
    busy.value = true;
    failed.value = "";
    try {
      await call("PUT", "/web/v1/setup/step", { network_id: home.id, step });
      await Promise.all([again(), refresh()]);
    } catch (e) {
      failed.value = refusal(e);
    }
    busy.value = false;
    scrollTo(0, 0);
    return failed.value === "";
  };
  const back = useSteps(home, put);
  const step = home.step as Exclude<Step, "">;
  const shown: Shown = {
    home,
    wrong: failed.value ? <p class="wrong" role="alert">{failed}</p> : wrong,
    busy: busy.value,
    address,
    next: async () => (installs && next[step] === "handover" ? finish(true) : void (await put(next[step]))),
    back: before[step] === undefined || installs && step === "handover" ? undefined : async () => back(before[step]),
  };
  if (done && step === "walk") return <HandOver {...shown} back={async () => finish(false)} handed={hand} />;
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
