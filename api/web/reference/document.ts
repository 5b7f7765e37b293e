// The parts of an OpenAPI 3.1 document that the page shows, and finding them.

export interface Schema {
  $ref?: string;
  type?: string | string[];
  format?: string;
  description?: string;
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
  required?: string[];
  items?: Schema;
  oneOf?: Schema[];
  anyOf?: Schema[];
  allOf?: Schema[];
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
  examples?: unknown[];
  pattern?: string;
  contentMediaType?: string;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  exclusiveMaximum?: number;
  multipleOf?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  uniqueItems?: boolean;
  minProperties?: number;
  maxProperties?: number;
  nullable?: boolean;
  readOnly?: boolean;
  writeOnly?: boolean;
  deprecated?: boolean;
}

export interface Parameter {
  $ref?: string;
  name: string;
  in: string;
  description?: string;
  required?: boolean;
  schema?: Schema;
  example?: unknown;
}

export interface Media {
  schema?: Schema;
  example?: unknown;
  examples?: Record<string, { summary?: string; value?: unknown }>;
}

export interface Answer {
  $ref?: string;
  description?: string;
  headers?: Record<string, { description?: string; schema?: Schema }>;
  content?: Record<string, Media>;
}

export interface Scheme {
  type: string;
  scheme?: string;
  in?: string;
  name?: string;
  description?: string;
}

type Security = Record<string, string[]>[];

interface Described {
  operationId?: string;
  summary?: string;
  description?: string;
  deprecated?: boolean;
  tags?: string[];
  security?: Security;
  parameters?: Parameter[];
  requestBody?: { description?: string; required?: boolean; content: Record<string, Media> };
  responses: Record<string, Answer>;
}

export interface Document {
  info: { title: string; version: string; description?: string };
  servers?: { url: string }[];
  security?: Security;
  tags?: { name: string; description?: string }[];
  paths: Record<string, Record<string, unknown>>;
  components?: { securitySchemes?: Record<string, Scheme> };
}

/** An operation, with what is said of it elsewhere in the document. */
export interface Operation extends Described {
  method: string;
  path: string;
  tag: string;
  link: string; // its place in the address: #/Tag/operationId
  id: string; // of its element: the same without the #, so that browsers find it
  security: Security;
  parameters: Parameter[];
  websocket: boolean;
  words: string; // what a search finds it by, in lower case
}

export interface Group {
  name: string;
  description?: string;
  operations: Operation[];
}

const methods = ["get", "post", "put", "patch", "delete", "head"];

/** Returns what a reference stands for; its own fields beside $ref go before. */
export function resolve<T extends { $ref?: string }>(doc: Document, value: T): T {
  for (let depth = 0; value.$ref && depth < 8; depth++) {
    let found: unknown = doc;
    for (const word of value.$ref.split("/").slice(1)) {
      found = (found as Record<string, unknown> | undefined)?.[word.replace(/~1/g, "/").replace(/~0/g, "~")];
    }
    const { $ref: _, ...beside } = value;
    value = { ...(found as T), ...beside } as T;
  }
  return value;
}

/** Returns the operations by their first tag, in the order of the document. */
export function groups(doc: Document): Group[] {
  const all = new Map<string, Group>();
  for (const tag of doc.tags ?? []) all.set(tag.name, { ...tag, operations: [] });
  for (const [path, item] of Object.entries(doc.paths)) {
    for (const method of methods) {
      if (!item[method]) continue;
      const o = operation(doc, method, path, item[method] as Described, (item.parameters ?? []) as Parameter[]);
      if (!all.has(o.tag)) all.set(o.tag, { name: o.tag, operations: [] });
      all.get(o.tag)!.operations.push(o);
    }
  }
  return [...all.values()].filter((g) => g.operations.length > 0);
}

/** Returns the id of the heading of a tag. */
export const groupID = (tag: string) => "/" + encodeURIComponent(tag);

function operation(doc: Document, method: string, path: string, told: Described, shared: Parameter[]): Operation {
  const tag = told.tags?.[0] ?? "Operations";
  const own = (told.parameters ?? []).map((p) => resolve(doc, p));
  const others = shared.map((p) => resolve(doc, p)).filter((p) => !own.some((o) => o.name === p.name && o.in === p.in));
  const id = groupID(tag) + "/" + encodeURIComponent(told.operationId ?? method + path);
  return {
    ...told,
    method,
    path,
    tag,
    link: "#" + id,
    id,
    security: told.security ?? doc.security ?? [],
    parameters: [...others, ...own],
    websocket: "101" in told.responses,
    words: [method, path, told.summary, told.operationId, tag, told.description].join(" ").toLowerCase(),
  };
}

/** Returns what a place in the address names: an operation by its id, #/Tag/operationId, or by
 * its method and path, #/get/networks; or a tag, #/Tag. */
export function named(all: Group[], base: string, hash: string): Operation | Group | undefined {
  let words: string[];
  try {
    words = hash.replace(/^#\/?/, "").split("/").map(decodeURIComponent);
  } catch {
    return undefined; // an escape that is none
  }
  const [first, ...rest] = words;
  const path = "/" + rest.join("/");
  const operations = all.flatMap((g) => g.operations);
  return (
    operations.find((o) => o.operationId === words.at(-1)) ??
    operations.find((o) => o.method === first.trim().toLowerCase() && (o.path === path || base + o.path === path)) ??
    (rest.join("") ? undefined : all.find((g) => g.name === first || g.name.replace(/\s/g, "_") === first))
  );
}

/** Returns the examples of a body by their names. */
export function examples(media: Media): [string, unknown][] {
  if (media.examples) return Object.entries(media.examples).map(([name, e]) => [e.summary ?? name, e.value]);
  return media.example === undefined ? [] : [["", media.example]];
}

/** Returns a value as a schema describes it: its examples, or the least there is. */
export function sample(doc: Document, schema: Schema, depth = 0): unknown {
  const s = resolve(doc, schema);
  const told = s.examples?.[0] ?? s.default ?? s.const ?? s.enum?.[0];
  if (told !== undefined || depth > 5) return told;
  const first = s.oneOf?.[0] ?? s.anyOf?.[0] ?? s.allOf?.[0];
  if (first) return sample(doc, first, depth + 1);
  if (s.properties) {
    const needed = Object.entries(s.properties).filter(([name, p]) => s.required?.includes(name) || resolve(doc, p).examples);
    return Object.fromEntries(needed.map(([name, p]) => [name, sample(doc, p, depth + 1)]));
  }
  switch ([s.type].flat()[0]) {
    case "object": return {};
    case "array": return s.items ? [sample(doc, s.items, depth + 1)] : [];
    case "string": return s.contentMediaType ? undefined : "";
    case "integer":
    case "number": return s.minimum ?? 0;
    case "boolean": return false;
    default: return undefined;
  }
}

/** Writes a value as JSON: what fits stands on one line. */
export function json(value: unknown, indent = ""): string {
  const flat = JSON.stringify(value) ?? "";
  if (typeof value !== "object" || value === null || indent.length + flat.length < 72) return flat;
  const deeper = indent + "  ";
  const [begin, end, parts] = Array.isArray(value)
    ? ["[", "]", value.map((v) => json(v, deeper))]
    : ["{", "}", Object.entries(value).map(([k, v]) => JSON.stringify(k) + ": " + json(v, deeper))];
  return begin + "\n" + parts.map((p) => deeper + p).join(",\n") + "\n" + indent + end;
}
