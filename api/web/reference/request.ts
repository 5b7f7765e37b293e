// Requests as they are filled in: their address, their headers, and as a curl command.

import { examples, json, sample, type Document, type Operation, type Parameter, type Scheme } from "./document";

/** What stands in the fields of an operation, by fieldName; and its body. */
export interface Filled {
  values: Record<string, string>;
  body: string;
}

export const fieldName = (p: Parameter) => p.in + " " + p.name;

/** Returns the media type of the body that an operation takes; "": it takes none. */
export function bodyType(o: Operation): string {
  const types = Object.keys(o.requestBody?.content ?? {});
  return types.find((t) => t.includes("json")) ?? types[0] ?? "";
}

/** Returns the example of a parameter as text; "": it has none. */
export function exampleOf(p: Parameter): string {
  const value = p.example ?? p.schema?.examples?.[0] ?? p.schema?.default ?? p.schema?.enum?.[0];
  if (value === undefined || value === null) return "";
  return typeof value === "object" ? [value].flat().join(",") : String(value);
}

/** Fills in what has to be there, from the examples. */
export function begin(doc: Document, o: Operation): Filled {
  const needed = o.parameters.filter((p) => p.required);
  const media = o.requestBody?.content[bodyType(o)];
  const body = media && (examples(media)[0]?.[1] ?? sample(doc, media.schema ?? {}));
  return { values: Object.fromEntries(needed.map((p) => [fieldName(p), exampleOf(p)])), body: json(body) };
}

/** Returns the schemes of the first way to call an operation for which there are all secrets, or
 * else of the first way. */
export function way(doc: Document, o: Operation, secrets: Record<string, string>): [string, Scheme][] {
  const ways = o.security.map((needs) => Object.keys(needs));
  const chosen = ways.find((names) => names.every((name) => secrets[name])) ?? ways[0] ?? [];
  return chosen.flatMap((name) => {
    const scheme = doc.components?.securitySchemes?.[name];
    return scheme ? [[name, scheme] as [string, Scheme]] : [];
  });
}

/** A request, ready to send. */
export interface Ready {
  url: string;
  headers: [string, string][];
  body?: string;
}

/** Returns the request that the fields and the secrets make. */
export function ready(doc: Document, base: string, o: Operation, filled: Filled, secrets: Record<string, string>): Ready {
  const value = (p: Parameter) => filled.values[fieldName(p)] ?? "";
  const query = new URLSearchParams();
  const headers: [string, string][] = [];
  let path = o.path;
  for (const p of o.parameters) {
    if (p.in === "path") path = path.replace("{" + p.name + "}", value(p) ? encodeURIComponent(value(p)) : `{${p.name}}`);
    else if (p.in === "query" && value(p)) query.append(p.name, value(p));
    else if (p.in === "header" && value(p)) headers.push([p.name, value(p)]);
  }
  for (const [name, scheme] of way(doc, o, secrets)) {
    const secret = secrets[name]?.trim().replace(/^Bearer\s+/i, "");
    if (!secret) continue;
    if (scheme.type === "apiKey" && scheme.in === "query") query.append(scheme.name!, secret);
    else if (scheme.type === "apiKey") headers.push([scheme.name!, secret]);
    else headers.push(["Authorization", "Bearer " + secret]);
  }
  const body = bodyType(o) && filled.body.trim() ? filled.body : undefined;
  if (body !== undefined) headers.push(["Content-Type", bodyType(o)]);
  return { url: location.origin + base + path + (query.size ? "?" + query : ""), headers, body };
}

const quoted = (text: string) => "'" + text.replace(/'/g, "'\\''") + "'";

/** What stands in the place of a secret in a command: a variable of the shell. */
const variable = "$TOKEN";

/** Returns a request as a curl command. No secret stands in it. */
export function curl(doc: Document, base: string, o: Operation, filled: Filled): string {
  const r = ready(doc, base, o, filled, Object.fromEntries(way(doc, o, {}).map(([name]) => [name, variable])));
  const method = o.method === "get" ? "" : o.method === "head" ? " -I" : " -X " + o.method.toUpperCase();
  const parts = ["curl" + method + " " + quoted(r.url)];
  for (const [name, value] of r.headers) {
    const secret = value === variable || value === "Bearer " + variable;
    parts.push("-H " + (secret ? `"${name}: ${value}"` : quoted(name + ": " + value)));
  }
  if (r.body !== undefined) parts.push("--data-raw " + quoted(r.body));
  if (isBinary(o)) parts.push("-o answer");
  return parts.join(" \\\n  ");
}

/** Reports whether an operation answers with something that is no text. */
function isBinary(o: Operation): boolean {
  const good = Object.entries(o.responses).filter(([status]) => status[0] === "2");
  return good.some(([, a]) => Object.keys(a.content ?? {}).some((type) => !/json|text/.test(type)));
}
