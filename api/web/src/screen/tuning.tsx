import { useSignal } from "@preact/signals";
import { useEffect, useId } from "preact/hooks";
import { useAnswer } from "../answer";
import { call } from "../api";
import { useLinks } from "../part/linklist";
import { LivePlot } from "../part/liveplot";
import { Waiting } from "../part/page";
import { mayInstall, SetupPage, type SetupProps } from "../part/setup";
import { to } from "../route";
import { clock, refusal } from "../text";
import { su, suCode, suCounted } from "../words/setup";

const levels = ["high", "medium", "low", "very_low"] as const;
type Level = (typeof levels)[number];

interface Config {
  sensitivity_level: Level;
  cooldown: number; // s
  pet_mode: boolean;
  motion_paused: boolean;
}

const cooldowns = [10, 30, 60, 120, 180, 300, 600]; // s

/** A length of time that can be chosen, in words. */
const seconds = (n: number) => (n % 60 === 0 && n > 60 ? su("suTuneMinutes", { n: n / 60 }) : su("suTuneSeconds", { n }));

/** How sensitive the home is, with what that would have meant. */
export function Screen(props: SetupProps) {
  const { home, installer } = props;
  const path = installer ? `/web/v1/tuning?network_id=${home.id}` : `/api/v1/network_motion_config?network_id=${home.id}`;
  const answer = useAnswer<Config>(path);
  const links = useLinks(mayInstall(props) ? home : null, 60);
  const kept = answer.value;
  const draft = useSignal<Partial<Config>>({});
  const busy = useSignal(false);
  const wrong = useSignal("");
  const said = useSignal("");
  const config = kept && { ...kept, ...draft.value };
  const changed = !!kept && !!config && (config.sensitivity_level !== kept.sensitivity_level || config.cooldown !== kept.cooldown || config.pet_mode !== kept.pet_mode);
  const set = (change: Partial<Config>) => {
    said.value = wrong.value = "";
    draft.value = { ...draft.value, ...change };
    if (draft.value.sensitivity_level && draft.value.sensitivity_level !== "high" && (draft.value.pet_mode ?? kept?.pet_mode)) draft.value = { ...draft.value, pet_mode: false };
  };
  const save = async (e: SubmitEvent) => {
    e.preventDefault();
    if (!config) return;
    busy.value = true;
    wrong.value = "";
    try {
      await call("PUT", path.split("?")[0], { network_id: home.id, sensitivity_level: config.sensitivity_level, cooldown: config.cooldown, pet_mode: config.pet_mode });
      await answer.again();
      draft.value = {};
      said.value = su("suSaved");
    } catch (e) {
      wrong.value = refusal(e);
    }
    busy.value = false;
  };
  return (
    <SetupPage {...props} title="suTuning" truth={kept && su("suTuneTruth", { level: suCode("suTuneLevel_", kept.sensitivity_level) })}>
      <Waiting answer={answer} />
      {config && kept && (
        <>
          {!installer && links.value && <LivePlot home={home.id} links={links.value.links} label={su("suTunePlot")} />}
          {kept.motion_paused && <p class="note">{su("suTunePaused")}</p>}
          <form class="su-tune" onSubmit={save}>
            <Sensitivity chosen={config.sensitivity_level} disabled={kept.motion_paused} choose={(sensitivity_level) => set({ sensitivity_level })} />
            <Rest config={config} set={set} />
            {!installer && home.role === "owner" && <WhatIf home={home} config={config} kept={kept} />}
            <div class="row">
              <button class="main" disabled={busy.value || !changed || kept.motion_paused}>{su("suTuneSave")}</button>
              {changed && <button type="button" onClick={() => (draft.value = {})}>{su("suTuneUndo")}</button>}
            </div>
            <p role="status">{said}</p>
            <p class="wrong" role="alert">{wrong}</p>
          </form>
          {mayInstall(props) && <p><a href={to("links")}>{su("suTuneLink")}</a></p>}
        </>
      )}
    </SetupPage>
  );
}

function Sensitivity({ chosen, disabled, choose }: { chosen: Level; disabled: boolean; choose: (level: Level) => void }) {
  const id = useId();
  return (
    <fieldset class="su-levels" disabled={disabled}>
      <legend>{su("suTuneSensitivity")}</legend>
      <p><small>{su("suTuneLevelHelp")}</small></p>
      <div>
        {levels.map((level) => (
          <label key={level} for={id + level}>
            <input type="radio" name={id} id={id + level} checked={chosen === level} onChange={() => choose(level)} /> {suCode("suTuneLevel_", level)}
          </label>
        ))}
      </div>
    </fieldset>
  );
}

/** When motion ends, and pets. */
function Rest({ config, set }: { config: Config; set: (change: Partial<Config>) => void }) {
  const id = useId();
  const offered = [...new Set([...cooldowns, config.cooldown])].sort((a, b) => a - b);
  return (
    <div class="su-rest">
      <label for={id + "c"}>{su("suTuneCooldown")}</label>
      <p><small>{su("suTuneCooldownHelp")}</small></p>
      <select id={id + "c"} value={config.cooldown} disabled={config.motion_paused} onChange={(e) => set({ cooldown: Number(e.currentTarget.value) })}>
        {offered.map((s) => <option key={s} value={s}>{seconds(s)}</option>)}
      </select>
      <label class="check" for={id + "p"}>
        <input id={id + "p"} type="checkbox" checked={config.pet_mode} disabled={config.motion_paused || config.sensitivity_level !== "high"} onChange={(e) => set({ pet_mode: e.currentTarget.checked })} />
        <span>{su("suTunePets")}</span>
      </label>
      <p><small>{su("suTunePetsHelp")}</small></p>
    </div>
  );
}

/** Moments of the last 24 hours, as they were and as they would have been. */
interface Answered {
  from: number;
  to: number;
  now: number | null;
  then: number | null;
  why: string; // code of why one is not known
}

/** What other settings would have made of the last 24 hours. */
function WhatIf({ home, config, kept }: { home: SetupProps["home"]; config: Config; kept: Config }) {
  const other = (config.sensitivity_level === kept.sensitivity_level ? "" : `&sensitivity=${levels.indexOf(config.sensitivity_level) + 1}`) + (config.cooldown === kept.cooldown ? "" : `&cooldown=${config.cooldown}`);
  const answer = useAnswer<Answered>(`/web/v1/what-if?network_id=${home.id}${other}`);
  const shown = useSignal("");
  useEffect(() => {
    const v = answer.value;
    if (answer.refusal) shown.value = refusal(answer.refusal);
    if (!v) return; // what was shown stays until the answer
    const short = config.sensitivity_level !== kept.sensitivity_level && v.to - v.from < 86400 - 60 ? "Since" : ""; // weaker motion is in the box's memory alone
    const words = { time: clock(v.from, home.timezone), now: suCounted("suMoments", v.now ?? 0, {}), then: suCounted("suMoments", v.then ?? 0, {}) };
    if (v.why && (v.now === null || other)) shown.value = suCode("suTuneWhatIf_", v.why);
    else shown.value = su(!other ? "suTuneWhatIfNow" : v.now === v.then ? `suTuneWhatIf${short}Same` : `suTuneWhatIf${short}`, words);
  });
  return <p class="su-whatif" role="status">{shown}</p>;
}
