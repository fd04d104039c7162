export type Place = readonly (string | number)[];

const PLACES_MAX = 80;

/** Every place of a JSON value, the value itself first. */
export function placesOf(value: unknown, at: Place = []): Place[] {
  if (typeof value !== 'object' || value === null) return [at];
  const keys = Array.isArray(value) ? [...value.keys()] : Object.keys(value);
  const inner = keys.flatMap((key) =>
    placesOf((value as Record<string | number, unknown>)[key], [...at, key]),
  );
  return [at, ...inner].slice(0, PLACES_MAX);
}

export type Edit =
  | { kind: 'replace'; raw: string }
  | { kind: 'drop' }
  | { kind: 'repeat' }
  | { kind: 'add'; key: string; raw: string };

/** The text of a value with one place of it edited; what JSON cannot say, such as a key that comes twice, included. */
export function edited(value: unknown, place: Place, edit: Edit): string {
  const [step, ...rest] = place;
  if (step === undefined) return atPlace(value, edit);
  const here = rest.length === 0;
  const inner = (of: unknown) => edited(of, rest, edit);
  if (Array.isArray(value)) {
    const entries = value.flatMap((entry, at) => {
      if (at !== step) return [JSON.stringify(entry)];
      if (here && edit.kind === 'drop') return [];
      return [inner(entry)];
    });
    return `[${entries.join(',')}]`;
  }
  const entries = Object.entries(value as object).flatMap(([key, of]) => {
    const plain = `${JSON.stringify(key)}:${JSON.stringify(of)}`;
    if (key !== step) return [plain];
    if (here && edit.kind === 'drop') return [];
    if (here && edit.kind === 'repeat') return [plain, plain];
    return [`${JSON.stringify(key)}:${inner(of)}`];
  });
  return `{${entries.join(',')}}`;
}

function atPlace(value: unknown, edit: Edit): string {
  const text = JSON.stringify(value);
  if (edit.kind === 'replace') return edit.raw;
  if (edit.kind !== 'add' || !text.startsWith('{')) return text;
  return `{${JSON.stringify(edit.key)}:${edit.raw}${text === '{}' ? '' : ','}${text.slice(1)}`;
}

/** Text that a body may not hold, in keys and in values (design: API, section 1, Bodies). */
function hasTrouble(value: unknown): boolean {
  if (typeof value === 'string') return !value.isWellFormed() || value.includes('\0');
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return value.some(hasTrouble);
  return Object.entries(value).some(
    ([key, inner]) => key === '__proto__' || key === 'constructor' || hasTrouble(key) || hasTrouble(inner),
  );
}

/** What the document says of a body: whether it is one JSON object, free of forbidden text, that fits the schema. */
export function bodyFits(body: string | Uint8Array, fits: (value: unknown) => boolean): boolean {
  try {
    const bytes = typeof body === 'string' ? Buffer.from(body) : body;
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    const value: unknown = text === '' ? {} : JSON.parse(text);
    return typeof value === 'object' && value !== null && !hasTrouble(value) && fits(value);
  } catch {
    return false;
  }
}
