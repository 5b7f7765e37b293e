// What the page asks of the appliance, and how it shows who asks: with the cookie that the
// browser adds, and the proof that is kept here.

const proofKey = "sensegate-proof";

/** A refusal by the appliance, or a connection that failed (status 0). */
export class Refusal extends Error {
  said = ""; // better words for it than the appliance's

  constructor(readonly status: number, readonly code: string, message: string, readonly retryAfter: number) {
    super(message);
  }
}

let held = ""; // the proof, where the browser keeps nothing for pages

export function proof(): string {
  try {
    return localStorage.getItem(proofKey) ?? sessionStorage.getItem(proofKey) ?? held;
  } catch {
    return held;
  }
}

/** Keeps the proof of a session: beyond the browser's window if stay. */
export function keepProof(value: string, stay: boolean) {
  dropProof();
  held = value;
  try {
    (stay ? localStorage : sessionStorage).setItem(proofKey, value);
  } catch {
    // held until the page is closed
  }
}

export function dropProof() {
  held = "";
  try {
    localStorage.removeItem(proofKey);
    sessionStorage.removeItem(proofKey);
  } catch {
    // nothing is kept
  }
}

let forget = () => {};

/** Tells what to call when the appliance no longer knows the session. */
export function onSignedOut(fn: () => void) {
  forget = fn;
}

/** Forgets the session that a proof was of, unless there is another one by now. */
function ended(used: string) {
  if (used !== "" && proof() === used) forget();
}

/** Whether the session outlives the browser's window. */
export function stays(): boolean {
  try {
    return localStorage.getItem(proofKey) !== null;
  } catch {
    return false;
  }
}

let askPassword = () => Promise.resolve(false);

/** Tells how to have the password shown again (POST /web/v1/step-up); false: it was not. */
export function onStepUp(fn: () => Promise<boolean>) {
  askPassword = fn;
}

/** Has the password shown again. */
export const stepUp = () => askPassword();

/** Makes a call, and makes it once more when the appliance wants to see the password first and the person has shown it. */
export async function shown<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (e) {
    if (e instanceof Refusal && e.code === "step_up" && (await askPassword())) return ask();
    throw e;
  }
}

/** Calls an operation and returns its answer, as shown does. It throws a Refusal. */
export const call = <T>(method: string, path: string, body?: unknown) => shown(() => request<T>(method, path, body));

/** Calls an operation that answers with a file, as call does. */
export const fetchFile = (path: string) => call<Blob>("GET", path);

async function request<T>(method: string, path: string, body?: unknown): Promise<T> {
  const used = proof();
  const headers: Record<string, string> = { "X-Sensegate": used };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  let answer: Response;
  try {
    answer = await fetch(path, { method, headers, body: body === undefined ? undefined : JSON.stringify(body), credentials: "same-origin", cache: "no-store" });
  } catch {
    throw new Refusal(0, "offline", "", 0);
  }
  const date = Date.parse(answer.headers.get("Date") ?? "");
  if (date) clockAhead = (date - Date.now()) / 1000;
  if (answer.ok && answer.status === 204) return undefined as T;
  const file = answer.ok && answer.headers.get("Content-Type") === "application/zip";
  const content = await (file ? answer.blob() : answer.json()).catch(() => null);
  if (answer.ok && content === null) throw new Refusal(0, "offline", "", 0); // it broke off
  if (answer.ok) return content as T;
  const problem = content ?? {};
  if (answer.status === 401 && path !== "/web/v1/session") ended(used);
  throw new Refusal(answer.status, problem.code ?? "", problem.errors?.map((e: { message: string }) => e.message).join("; ") || problem.detail || "", Number(answer.headers.get("Retry-After") ?? 0));
}

/** How far the appliance's clock is ahead of ours, in seconds, as its newest answer says. */
export let clockAhead = 0;

/** A websocket that comes back by itself until close is called. */
export interface Live {
  close(): void;
}

const slowest = 15_000; // ms between two attempts

const steady = 10_000; // ms open, after which the next attempt comes at once again

/**
 * Opens a websocket and gives each of its messages to take; up tells whether it is open, and gone
 * that there is nothing to watch there any more.
 */
export function live(path: string, take: (message: any) => void, up: (open: boolean) => void, gone: () => void): Live {
  let socket: WebSocket | undefined;
  let timer = 0;
  let closed = false;
  let wait = 500;
  const again = () => {
    up(false);
    timer = window.setTimeout(open, wait * (0.5 + Math.random()));
    wait = Math.min(wait * 2, slowest);
  };
  const open = async () => {
    const used = proof();
    let ticket: string;
    try {
      ticket = (await call<{ ticket: string }>("POST", "/web/v1/live-tickets")).ticket;
    } catch (e) {
      if (!closed && !(e instanceof Refusal && e.status === 401)) again();
      return;
    }
    if (closed) return;
    let since = 0;
    const scheme = location.protocol === "https:" ? "wss:" : "ws:";
    socket = new WebSocket(`${scheme}//${location.host}${path}`, ["sensegate.v1", "ticket." + ticket]);
    socket.onopen = () => {
      since = Date.now();
      if (!closed) up(true);
    };
    socket.onmessage = (m) => {
      if (!closed) take(JSON.parse(m.data));
    };
    socket.onclose = (e) => {
      if (closed) return;
      if (since > 0 && Date.now() - since > steady) wait = 500;
      if (e.code === 4401) ended(used);
      else if (e.code === 4403 || e.code === 4404) gone();
      else again();
    };
  };
  void open();
  return {
    close() {
      closed = true;
      clearTimeout(timer);
      socket?.close();
    },
  };
}
