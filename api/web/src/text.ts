// The words of the page, and numbers and times as the reader's language writes them.

import { signal } from "@preact/signals";
import { Refusal } from "./api";
import { first, type Messages } from "./words/en";
import { numbers, unpack } from "./words/pack";

const languageKey = "sensegate-language";
export const languages = { en: "English", de: "Deutsch", fr: "Français" };
export type Language = keyof typeof languages;

const isLanguage = (text: string | null): text is Language => text !== null && text in languages;

const begun = unpack(first);
let english = begun; // those of rest.en come with the first screen that is fetched
const words = signal(english);
export const language = signal<Language>("en");

function kept(): string | null {
  try {
    return localStorage.getItem(languageKey);
  } catch {
    return null;
  }
}

/** Fetches the English words that are not there from the beginning, before a screen that needs them. */
export async function fetchWords() {
  if (english !== begun) return;
  const { rest } = await import("./words/rest.en");
  const before = english;
  if (before === begun) english = { ...begun, ...unpack(rest) };
  if (words.value === before) words.value = english;
}

let added: ((of: Language) => Promise<Record<string, string>>) | undefined; // words that only some screens need

/** Adds the words that fetch gives for a language, to this one and to each that is chosen later. It comes after fetchWords. */
export async function addWords(fetch: (of: Language) => Promise<Record<string, string>>) {
  await fetch(language.value); // it fails here
  added = fetch;
  await chooseLanguage();
}

/** Takes the language that was chosen, else the first of the browser's that we have. */
export async function chooseLanguage(chosen = kept()) {
  const wanted: Language = [chosen, ...navigator.languages.map((l) => l.slice(0, 2))].find(isLanguage) ?? "en";
  try {
    if (chosen === wanted) localStorage.setItem(languageKey, wanted);
    const more = await added?.(wanted);
    words.value = wanted === "de" ? unpack((await import("./words/de")).messages) : wanted === "fr" ? unpack((await import("./words/fr")).messages) : english;
    if (more) words.value = { ...words.value, ...more };
  } catch {
    return; // the words stay those there are
  }
  language.value = wanted;
  document.documentElement.lang = wanted;
}

/** What a refusal says to a person. */
export function refusal(e: unknown): string {
  if (!(e instanceof Refusal)) return t("failed", { why: String(e) });
  if (e.said) return e.said;
  if (e.status === 0) return t("offline");
  if (e.code === "unconfirmed") return t("unconfirmed");
  if (e.code === "name") return t("roomSigns");
  if (e.status === 429) return t("tooMany", { n: e.retryAfter || 60 });
  if (e.status === 503) return t("readOnly");
  return t("failed", { why: e.message });
}

/** Returns a text with {name} replaced by the value of that name. */
export const fill = (text: string, values: Record<string, string | number>) => text.replace(/\{(\w+)\}/g, (_, name) => String(values[name] ?? ""));

/** The message of a key, which in the bundle is a number or has one. */
const said = (key: keyof Messages): string | undefined => words.value[numbers[key] ?? key];

/** Returns a message, with {name} replaced by the value of that name. */
export function t(key: keyof Messages, values: Record<string, string | number> = {}): string {
  return fill(said(key) ?? key, values);
}

/** The words for a code that the appliance gives, "" for one that is not known. */
export function codeText(prefix: string, code: string, values: Record<string, string | number> = {}): string {
  const key = (prefix + code) as keyof Messages;
  return said(key) === undefined ? "" : t(key, values);
}

const units: [Intl.RelativeTimeFormatUnit & ("minute" | "hour" | "day"), number][] = [["day", 86400], ["hour", 3600], ["minute", 60]];

/** A length of time in its greatest unit: "14 minutes". */
export function span(seconds: number): string {
  const [unit, size] = units.find(([, size]) => seconds >= size) ?? units[2];
  const n = Math.max(1, Math.floor(seconds / size));
  return new Intl.NumberFormat(language.value, { style: "unit", unit, unitDisplay: "long" }).format(n);
}

/** How long ago, in its greatest unit: "14 minutes ago". */
export function ago(seconds: number): string {
  const [unit, size] = units.find(([, size]) => seconds >= size) ?? units[2];
  return new Intl.RelativeTimeFormat(language.value).format(-Math.max(1, Math.floor(seconds / size)), unit);
}

/** Names in a row: "Bathroom, Kitchen and Office"; a disjunction is of one of them: "Hallway or Kitchen". */
export function list(names: string[], type?: "disjunction"): string {
  return new Intl.ListFormat(language.value, { type }).format(names);
}

/** The time of day in the home's zone. */
export function clock(seconds: number, zone: string): string {
  return new Intl.DateTimeFormat(language.value, { hour: "2-digit", minute: "2-digit", hourCycle: "h23", timeZone: zone }).format(seconds * 1000);
}
