// What a link in a mail, or the code of an invitation, brought somebody for.

import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { call, keepProof, Refusal } from "../api";
import { errand, type Errand } from "../errand";
import { Holder, Languages, Password, SignForm, Stay } from "../part/signform";
import { longDay } from "../part/when";
import { go } from "../route";
import { installing, type Setup, type SetupHome } from "../setup";
import { choose, overview, refresh } from "../state";
import { refusal, t } from "../text";

export function Screen({ task }: { task: Errand }) {
  switch (task.kind) {
    case "reset":
      return <Reset token={task.token} />;
    case "confirm":
      return <Confirm token={task.token} />;
    default:
      return <Join task={task} />;
  }
}

function leave() {
  errand.value = undefined;
  if (overview.value === undefined) void refresh();
}

function Frame({ title, children }: { title: string; children: ComponentChildren }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    heading.current?.focus();
    document.title = `${title} · ${t("name")}`;
  }, [title]);
  return (
    <main class="signin">
      <img src="icon.svg" alt="" width="56" height="56" />
      <h1 tabIndex={-1} ref={heading}>{title}</h1>
      {children}
      <p class="language"><Languages /></p>
    </main>
  );
}

/** Sends a form; says what went wrong, or gives way to what done says. */
function useSending(send: (form: FormData) => Promise<void>, words: (e: Refusal) => string = () => "") {
  const busy = useSignal(false);
  const wrong = useSignal("");
  const submit = async (e: SubmitEvent) => {
    e.preventDefault();
    busy.value = true;
    wrong.value = "";
    try {
      await send(new FormData(e.currentTarget as HTMLFormElement));
    } catch (e) {
      wrong.value = (e instanceof Refusal && words(e)) || refusal(e);
    }
    busy.value = false;
  };
  return { busy, wrong, submit };
}

function Reset({ token }: { token: string }) {
  const done = useSignal(false);
  const { busy, wrong, submit } = useSending(
    async (form) => {
      await call("PUT", "/api/v1/password_resets", { token, password: form.get("password") });
      done.value = true;
    },
    (e) => (e.status === 401 ? t("resetOver") : ""),
  );
  if (done.value) return <Frame title={t("resetDone")}><p><button class="main" onClick={leave}>{t("goOn")}</button></p></Frame>;
  return (
    <Frame title={t("resetTitle")}>
      <form class="form" onSubmit={submit}>
        <Holder />
        <Password />
        <p class="wrong" role="alert">{wrong}</p>
        <button class="main" disabled={busy}>{t("resetSet")}</button>
      </form>
      <p><button onClick={leave}>{t("cancel")}</button></p>
    </Frame>
  );
}

function Confirm({ token }: { token: string }) {
  const done = useSignal(false);
  const { busy, wrong, submit } = useSending(
    async (form) => {
      await call("PUT", "/api/v1/confirmations", { token, password: form.get("password") });
      done.value = true;
    },
    (e) => (e.status === 401 ? t("confirmOver") : e.code === "wrong_password" ? t("confirmWrong") : ""),
  );
  if (done.value) return <Frame title={t("confirmDone")}><p><button class="main" onClick={leave}>{t("goOn")}</button></p></Frame>;
  return (
    <Frame title={t("confirmTitle")}>
      <p>{t("confirmWhy")}</p>
      <form class="form" onSubmit={submit}>
        <Holder />
        <label for="password">{t("password")}</label>
        <input id="password" name="password" type="password" autocomplete="current-password" maxLength={512} />
        <p class="wrong" role="alert">{wrong}</p>
        <button class="main" disabled={busy}>{t("confirmYes")}</button>
      </form>
      <p><button onClick={leave}>{t("cancel")}</button></p>
    </Frame>
  );
}

/** What a refusal to let somebody join says. */
function joinText(e: Refusal): string {
  switch (e.code) {
    case "join_code":
      return t("joinWrong");
    case "known_address":
      return t("joinKnown");
    case "not_invited":
      return t("inviteWrong");
    case "unconfirmed":
      return t("unconfirmed");
  }
  return "";
}

/** The words for what one joins as, as the link says; the box says what it was afterwards. */
const kinds = {
  owner: { title: "frJoinOwner", why: "frJoinOwnerWhy", yes: "frJoinOwnerYes" },
  installer: { title: "frJoinInstaller", why: "frJoinInstallerWhy", yes: "frJoinInstallerYes" },
  member: { title: "joinTitle", why: "joinWhy", yes: "joinYes" },
} as const;

/** Joining a home: by the code of its owner, or by the link of an invitation's mail. */
function Join({ task }: { task: Errand }) {
  const code = useSignal(task.token);
  const known = useSignal<boolean | string>(false); // who has an account, and its address
  const told = useSignal("");
  const become = useSignal<SetupHome | undefined>(undefined); // the home that is theirs, or that they install, since now
  const invited = task.kind === "invite";
  const signedIn = overview.value !== null && overview.value !== undefined ? overview.value.user : undefined;
  const words = kinds[task.as as keyof typeof kinds] ?? kinds.member;

  const joined = async (network?: number) => {
    const homes = (await call<Setup>("GET", "/web/v1/setup").catch(() => undefined))?.homes ?? [];
    become.value = network === undefined ? homes[0] : homes.find((h) => h.id === network);
    if (!become.value) errand.value = undefined;
    choose(network ?? 0);
  };
  const join = async () => {
    try {
      const network = invited
        ? (await call("POST", "/api/v1/network_memberships", { role: "member", network_id: task.network, invitation: task.token || undefined }), task.network)
        : (await call<{ network_id: number }>("POST", "/web/v1/join", { code: code.value })).network_id;
      await joined(network);
    } catch (e) {
      if (!(e instanceof Refusal)) throw e;
      if (e.code === "member") told.value = t("joinMember");
      else throw new Refusal(e.status, e.code, joinText(e) || e.message, e.retryAfter);
    }
  };
  const field = !invited && (
    <>
      <label for="code">{t("joinCode")}</label>
      <input id="code" class="typed" value={code.value} autocapitalize="characters" autocomplete="off" spellcheck={false} maxLength={64} required placeholder="7K2M-Q9XA" onInput={(e) => (code.value = e.currentTarget.value)} />
    </>
  );
  if (become.value) return <Became home={become.value} />;
  if (told.value) return <Frame title={told.value}><p><button class="main" onClick={() => { leave(); void refresh(); }}>{t("goOn")}</button></p></Frame>;
  if (signedIn)
    return (
      <Frame title={t(words.title)}>
        {words !== kinds.member && <p>{t(words.why)}</p>}
        <p>{t("joinAs", { name: signedIn.name })}</p>
        <One yes={t(words.yes)} send={join}>{field}</One>
        <p><button onClick={leave}>{t("cancel")}</button></p>
      </Frame>
    );
  return (
    <Frame title={t(words.title)}>
      <p>{t(words.why)}</p>
      <div class="row" role="group" aria-label={t("joinWho")}>
        <button aria-pressed={known.value === false} onClick={() => (known.value = false)}>{t("joinNew")}</button>
        <button aria-pressed={known.value !== false} onClick={() => (known.value = true)}>{t("joinHave")}</button>
      </div>
      {known.value && field && <div class="form">{field}</div>}
      {known.value
        ? <SignForm yes={t(words.yes)} done={join} {...(typeof known.value === "string" && { email: known.value, said: t("joinKnown") })} />
        : <NewAccount code={code.value} invited={invited} yes={t(words.yes)} field={field} taken={(email) => (known.value = email)} told={(text) => (told.value = text)} joined={joined} />}
      <p><button onClick={leave}>{t("cancel")}</button></p>
    </Frame>
  );
}

/** What somebody has become, as the box says. */
function Became({ home }: { home: SetupHome }) {
  const name = home.name || t("home");
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const on = () => {
    errand.value = undefined;
    installing.value = home.role === "installer" ? home.id : 0;
    go(home.role === "installer" ? "installs" : "");
    void refresh();
  };
  return (
    <Frame title={t(home.role === "owner" ? "frIsYours" : "frIsInstalled", { home: name })}>
      <p>{home.role === "owner" ? t("frIsYoursHelp") : t("frIsInstalledUntil", { day: longDay(home.until ?? 0, home.timezone) })}</p>
      {home.timezone !== own && <p class="note">{t("frZoneNamed", { zone: home.timezone.replaceAll("_", " ") })}</p>}
      <p><button class="main" onClick={on}>{t("goOn")}</button></p>
    </Frame>
  );
}

/** A form whose fields are kept elsewhere. */
function One({ yes, send, children }: { yes: string; send: () => Promise<void>; children: ComponentChildren }) {
  const { busy, wrong, submit } = useSending(send, joinText);
  return (
    <form class="form" onSubmit={submit}>
      {children}
      <p class="wrong" role="alert">{wrong}</p>
      <button class="main" disabled={busy}>{yes}</button>
    </form>
  );
}

/** Somebody who has no account yet. */
function NewAccount({ code, invited, yes, field, taken, told, joined }: { code: string; invited: boolean; yes: string; field: ComponentChildren; taken: (email: string) => void; told: (text: string) => void; joined: () => Promise<void> }) {
  const staying = useSignal(true);
  const { busy, wrong, submit } = useSending(async (form) => {
    const account = { email: form.get("email"), password: form.get("password"), first_name: form.get("name") };
    if (invited) {
      await call("POST", "/api/v1/users", account);
      told(t("inviteConfirm"));
      return;
    }
    try {
      const made = await call<{ proof: string }>("POST", "/web/v1/join-account", { code, ...account, stay: staying.value });
      keepProof(made.proof, staying.value);
    } catch (e) {
      if (e instanceof Refusal && e.code === "known_address") taken(String(account.email));
      throw e;
    }
    await joined();
  }, joinText);
  return (
    <form class="form" onSubmit={submit}>
      {field}
      <label for="name">{t("yourName")}</label>
      <input id="name" name="name" autocomplete="given-name" maxLength={100} required />
      <label for="email">{t("email")}</label>
      <input id="email" name="email" type="email" autocomplete="username" maxLength={254} required />
      <Password label={t("choosePassword")} />
      {!invited && <Stay staying={staying} />}
      <p class="wrong" role="alert">{wrong}</p>
      <button class="main" disabled={busy}>{yes}</button>
    </form>
  );
}
