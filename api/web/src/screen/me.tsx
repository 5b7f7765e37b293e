import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import { useAnswer, type Answer } from "../answer";
import { call, fetchFile, keepProof, stays } from "../api";
import { useAct } from "../part/act";
import { size, sizes, theme, themes } from "../look";
import { sure } from "../part/dialog";
import { Doing, Fields } from "../part/form";
import { Page, Waiting } from "../part/page";
import { saveFile } from "../part/save";
import { Holder, Languages, Password } from "../part/signform";
import { choose, now, refresh, signOut, type Overview } from "../state";
import { ago, t } from "../text";

interface User {
  id: number;
  email: string;
  first_name: string;
  last_name: string;
}

interface Session {
  id: string;
  current: boolean;
  browser: string;
  created_at: number;
  seen_at: number;
}

interface Phone {
  id: number;
  name: string;
  platform: string;
  created_at: string;
}

/** Somebody who is signed in. */
interface Who {
  id: number;
  name: string;
  email: string;
}

/** The one who is signed in, how the page speaks to them, and what is kept of them. who: somebody who belongs to no home. */
export function Screen({ o, who = o!.user }: { o?: Overview; who?: Who }) {
  const user = useAnswer<User>(`/api/v1/users/${who.id}`);
  const owner = o?.home.role === "owner";
  return (
    <Page title={t("me")} kind="me">
      <p class="who"><span class="grow"><strong>{who.name}</strong><br /><small>{who.email}</small></span> <button onClick={signOut}>{t("signOut")}</button></p>
      <section class="form">
        <h2>{t("look")}</h2>
        <Languages chosen={(code) => void call("PATCH", "/api/v1/user/meta", { web_language: code }).catch(() => {})} />
        <Choice label={t("theme")} values={themes} names={[t("themeAuto"), t("themeLight"), t("themeDark")]} of={theme} />
        <Choice label={t("textSize")} values={sizes} names={sizes.map((s) => s + " %")} of={size} />
      </section>
      <Waiting answer={user} />
      {user.value && <Account user={user.value} again={user.again} />}
      <NewPassword who={who} />
      {o && <Presence o={o} />}
      <Sessions />
      {o && <Phones />}
      <section class="form">
        <h2>{t("exportTitle")}</h2>
        <p>{t(owner ? "exportOwner" : o ? "exportMember" : "exportAlone")}</p>
        <Doing text={t("exportYes")} run={download} />
      </section>
      <section class="form">
        <h2>{t("endTitle")}</h2>
        <p>{t("endBackups")}</p>
        {o && owner && <Disown o={o} />}
        <Delete who={who} o={o} />
      </section>
    </Page>
  );
}

function Choice<T extends string>({ label, values, names, of }: { label: string; values: readonly T[]; names: string[]; of: { chosen: { value: T }; choose: (value: T) => void } }) {
  return (
    <fieldset class="choice">
      <legend>{label}</legend>
      {values.map((value, i) => <button key={value} aria-pressed={of.chosen.value === value} onClick={() => of.choose(value)}>{names[i]}</button>)}
    </fieldset>
  );
}

/** Saves the export as a file. It is fetched whole first, so that one that broke off is not kept for whole. */
async function download() {
  const file = await fetchFile("/web/v1/export");
  saveFile(file, `sensegate-export-${new Date().toISOString().slice(0, 10)}.zip`);
  return t("exportDone");
}

function Account({ user, again }: { user: User; again: () => Promise<void> }) {
  const first = useId();
  const last = useId();
  const mail = useId();
  const send = async (form: FormData) => {
    const email = String(form.get("email")).trim();
    const moves = email.toLowerCase() !== user.email.toLowerCase();
    await call("PUT", `/api/v1/users/${user.id}`, { first_name: form.get("first"), last_name: form.get("last"), email: moves ? email : undefined });
    await Promise.all([again(), refresh()]);
    return moves ? t("accountMoves", { address: email }) : t("saved");
  };
  return (
    <section>
      <h2>{t("accountTitle")}</h2>
      <Fields yes={t("save")} send={send}>
        <label for={first}>{t("firstName")}</label>
        <input id={first} name="first" autocomplete="given-name" maxLength={100} defaultValue={user.first_name} />
        <label for={last}>{t("lastName")}</label>
        <input id={last} name="last" autocomplete="family-name" maxLength={100} defaultValue={user.last_name} />
        <label for={mail}>{t("email")}</label>
        <input id={mail} name="email" type="email" autocomplete="email" maxLength={254} required defaultValue={user.email} />
      </Fields>
    </section>
  );
}

function NewPassword({ who }: { who: Who }) {
  const present = useId();
  const send = async (form: FormData) => {
    const stay = stays();
    const password = form.get("password");
    await call("PUT", `/api/v1/users/${who.id}`, { password, current_password: form.get("current") });
    // Every session has ended, this one too.
    const answer = await call<{ proof: string }>("POST", "/web/v1/session", { email: who.email, password, stay });
    keepProof(answer.proof, stay);
    await refresh();
    return t("passwordChanged");
  };
  return (
    <section>
      <details>
        <summary>{t("passwordTitle")}</summary>
        <p>{t("passwordEnds")}</p>
        <Fields yes={t("passwordYes")} send={send}>
          <Holder email={who.email} />
          <label for={present}>{t("presentPassword")}</label>
          <input id={present} name="current" type="password" autocomplete="current-password" maxLength={512} required />
          <Password />
        </Fields>
      </details>
    </section>
  );
}

/** Whether Home Assistant may know that this person is at home: where it is told of members at all, and for who has agreed. */
function Presence({ o }: { o: Overview }) {
  const meta = useAnswer<{ home_assistant_presence?: boolean }>("/api/v1/user/meta");
  const agreed = meta.value?.home_assistant_presence === true;
  const { wrong, act } = useAct(meta.again);
  const change = (e: { currentTarget: HTMLInputElement }) => {
    e.currentTarget.checked = agreed; // until the appliance has kept it
    void act(() => call("PATCH", "/api/v1/user/meta", { home_assistant_presence: !agreed }));
  };
  if (!meta.value || !(agreed || o.presence_shown)) return null;
  return (
    <section class="form">
      <h2>Home Assistant</h2>
      <p>{t("presenceText")}</p>
      <label class="check"><input type="checkbox" checked={agreed} onChange={change} /> {t("presenceShow")}</label>
      <p class="wrong" role="alert">{wrong}</p>
    </section>
  );
}

const programs: [RegExp, string][] = [[/Edg\//, "Edge"], [/OPR\//, "Opera"], [/SamsungBrowser\//, "Samsung Internet"], [/Firefox\/|FxiOS/, "Firefox"], [/Chrome\/|CriOS/, "Chrome"], [/Safari\//, "Safari"]];
const systems: [RegExp, string][] = [[/iPhone/, "iPhone"], [/iPad/, "iPad"], [/Android/, "Android"], [/Windows/, "Windows"], [/Mac OS X/, "Mac"], [/Linux|X11/, "Linux"]];

/** A browser's name for itself, in plain words. */
function browserText(agent: string): string {
  if (agent === "") return t("sessionApp");
  const known = (list: [RegExp, string][]) => list.find(([sign]) => sign.test(agent))?.[1];
  const [program, system] = [known(programs), known(systems)];
  return program && system ? t("browserOn", { program, system }) : program ?? system ?? t("browserUnknown");
}

/** How long ago; "today" for less than a day, which is as exact as the appliance knows. */
const daysAgo = (at: number) => (now.value - at < 86_400 ? t("todayWord") : ago(now.value - at));

/** Rows of which each can be ended. */
function Rows<T extends { id: number | string }>({ answer, empty, text, end, mine }: { answer: Answer<{ data: T[] }>; empty: string; text: (row: T) => ComponentChildren; end: (row: T) => [text: string, run: () => Promise<unknown>]; mine?: (row: T) => boolean }) {
  return (
    <>
      <Waiting answer={answer} />
      {answer.value?.data.length === 0 && <p>{empty}</p>}
      <ul class="list">
        {answer.value?.data.map((row) => {
          const [words, run] = end(row);
          return (
            <li key={row.id}>
              <span class="grow">{text(row)}</span>
              {!mine?.(row) && <Doing text={words} run={async () => { await run(); await answer.again(); }} />}
            </li>
          );
        })}
      </ul>
    </>
  );
}

function Sessions() {
  const sessions = useAnswer<{ data: Session[] }>("/web/v1/sessions", 60);
  const others = sessions.value?.data.filter((s) => !s.current) ?? [];
  const endAll = async () => {
    for (const s of others) await call("DELETE", `/web/v1/sessions/${s.id}`);
    await sessions.again();
  };
  return (
    <section class="sessions">
      <h2>{t("sessionsTitle")}</h2>
      <Rows
        answer={sessions}
        empty=""
        mine={(s) => s.current}
        text={(s) => <><strong>{browserText(s.browser)}</strong> {s.current && <small>{t("sessionThis")}</small>}<br /><small>{t("sessionTimes", { since: daysAgo(s.created_at), seen: daysAgo(s.seen_at) })}</small></>}
        end={(s) => [t("sessionEnd"), () => call("DELETE", `/web/v1/sessions/${s.id}`)]}
      />
      {others.length > 1 && <Doing text={t("sessionEndAll")} run={endAll} />}
    </section>
  );
}

function Phones() {
  const phones = useAnswer<{ data: Phone[] }>("/api/v1/mobile_devices");
  return (
    <section>
      <h2>{t("phonesTitle")}</h2>
      <Rows
        answer={phones}
        empty={t("phonesNone")}
        text={(p) => <><strong>{p.name || p.platform || t("phone")}</strong><br /><small>{t("phoneSince", { time: daysAgo(Date.parse(p.created_at) / 1000) })}</small></>}
        end={(p) => [t("removeYes"), () => call("DELETE", `/api/v1/mobile_devices/${p.id}`)]}
      />
    </section>
  );
}

function Disown({ o }: { o: Overview }) {
  const name = o.home.name || t("home");
  const run = async () => {
    if (!(await sure(t("disownTitle", { home: name }), t("disownWhy"), t("disownYes"), name))) return;
    await call("DELETE", `/api/v1/networks/${o.home.id}`);
    location.hash = "";
    choose(0);
  };
  return <Doing bad text={t("disownTitle", { home: name })} run={run} />;
}

function Delete({ who, o }: { who: Who; o: Overview | undefined }) {
  const wipe = useSignal(false);
  const owner = o?.home.role === "owner";
  const alone = owner && o!.people.length === 1;
  const run = async () => {
    const what = !owner ? t(o ? "deleteMember" : "deleteInstaller") : alone || wipe.value ? t("deleteAlone") : t("deleteOwner");
    if (!(await sure(t("deleteTitle"), what, t("deleteYes"), who.email))) return;
    await call("DELETE", `/api/v1/users/${who.id}?delete_claimed_network=${wipe.value}`);
    await signOut();
  };
  return (
    <>
      {owner && !alone && <label class="check"><input type="checkbox" checked={wipe.value} onChange={() => (wipe.value = !wipe.value)} /> {t("deleteWipe")}</label>}
      <Doing bad text={t("deleteTitle")} run={run} />
    </>
  );
}
