import fc from 'fast-check';
import { BODIES, NAUGHTY_TEXTS, POLLUTING, RAW_VALUES, REFUSED_VALUES, STRANGE_KEYS } from './bad-input.ts';
import { type Draft, draftOf, type Parts } from './draft.ts';
import { bodyFits, type Edit, edited, placesOf } from './json-edit.ts';

export type Tweak = (parts: Parts) => Draft;

const REFUSED = [400];

/** A body whose fate the document decides. */
function judged(parts: Parts, tweak: string, body: string | Uint8Array): Draft {
  const fits = bodyFits(body, (value) => parts.operation.fitsBody?.(value) === true);
  return draftOf(parts, { tweak, body, expected: fits ? 'fits' : REFUSED });
}

const json = (parts: Parts) => JSON.stringify(parts.value ?? {});

/** The n-th place of the body, the body as a whole where there is but that. */
function editAt(parts: Parts, at: number, edit: Edit): string {
  const value = parts.value ?? {};
  const places = placesOf(value);
  return edited(value, places[at % places.length] ?? [], edit);
}

const place = fc.nat({ max: 79 });
const replaced = (name: string, raws: readonly string[]): fc.Arbitrary<Tweak> =>
  fc.tuple(place, fc.constantFrom(...raws)).map(
    ([at, raw]) =>
      (parts) =>
        judged(parts, `${name} ${shown(raw)}`, editAt(parts, at, { kind: 'replace', raw })),
  );

const refusedValue: fc.Arbitrary<Tweak> = fc
  .tuple(place, fc.constantFrom(...REFUSED_VALUES))
  .map(([at, raw]) => (parts) => {
    const body = editAt(parts, at, { kind: 'replace', raw });
    return draftOf(parts, { tweak: `refused value ${shown(raw)}`, body, expected: REFUSED });
  });

const dropped: fc.Arbitrary<Tweak> = place.map((at) => (parts) => {
  return judged(parts, 'a field or entry dropped', editAt(parts, at, { kind: 'drop' }));
});

const repeated: fc.Arbitrary<Tweak> = place.map((at) => (parts) => {
  const places = placesOf(parts.value ?? {}).filter((steps) => typeof steps.at(-1) === 'string');
  const steps = places[at % Math.max(1, places.length)];
  if (steps === undefined) return judged(parts, 'nothing to repeat', json(parts));
  const body = edited(parts.value, steps, { kind: 'repeat' });
  return draftOf(parts, { tweak: `key ${String(steps.at(-1))} twice`, body, expected: REFUSED });
});

const added: fc.Arbitrary<Tweak> = fc
  .tuple(
    place,
    fc.constantFrom(...STRANGE_KEYS, ...NAUGHTY_TEXTS),
    fc.constantFrom(...RAW_VALUES, ...POLLUTING),
  )
  .map(([at, key, raw]) => (parts) => {
    return judged(parts, `field ${shown(key)} added`, editAt(parts, at, { kind: 'add', key, raw }));
  });

/** What surrounds or cuts the text of a body that fits. */
const WRAPPINGS: readonly [name: string, wrap: (text: string) => string | Uint8Array][] = [
  ['white space around', (text) => ` \t\r\n${text}\n `],
  ['form feed before', (text) => `\f${text}`],
  ['byte order mark', (text) => `\ufeff${text}`],
  ['cut', (text) => text.slice(0, -1)],
  ['twice', (text) => text + text],
  ['comma after', (text) => `${text},`],
  ['NUL after', (text) => `${text}\0`],
  ['in an array', (text) => `[${text}]`],
  ['in a text', (text) => JSON.stringify(text)],
  ['UTF-16', (text) => Buffer.from(text, 'utf16le')],
  ['invalid UTF-8 after', (text) => Buffer.concat([Buffer.from(text), Buffer.from([0xc0, 0x80])])],
  ['as a form', (text) => `payload=${encodeURIComponent(text)}`],
];
const wrapped: fc.Arbitrary<Tweak> = fc.constantFrom(...WRAPPINGS).map(
  ([name, wrap]) =>
    (parts) =>
      judged(parts, `body: ${name}`, wrap(json(parts))),
);

const otherBody: fc.Arbitrary<Tweak> = fc
  .constantFrom(...BODIES)
  .map((body) => (parts) => judged(parts, 'another body', body));

const ofAnyJson: fc.Arbitrary<Tweak> = fc
  .tuple(place, fc.json({ noUnicodeString: false }))
  .map(([at, raw]) => (parts) => {
    // A number may stand there in a form that is refused wherever it stands; the others are judged.
    const plain = raw.replaceAll(/-0(?![.\d])/g, '0').replaceAll(/-?\d+(\.\d+)?e[+-]?\d+/g, '1');
    return judged(parts, 'any JSON', editAt(parts, at, { kind: 'replace', raw: plain }));
  });

const BODY_BYTES_MAX = 1_048_576;
const tooLarge: fc.Arbitrary<Tweak> = fc
  .constantFrom(1, 4_096)
  .map(
    (more) => (parts) =>
      draftOf(parts, { tweak: 'too large', body: '{'.padEnd(BODY_BYTES_MAX + more, ' '), expected: [413] }),
  );

const shown = (text: string) => (text.length > 40 ? `${text.slice(0, 40)}…` : text);

/** What may be wrong with a body; some of it turns out to be right, which the document says. */
export const bodyTweaks: fc.Arbitrary<Tweak> = fc.oneof(
  { weight: 8, arbitrary: replaced('value', RAW_VALUES) },
  {
    weight: 5,
    arbitrary: replaced(
      'text',
      NAUGHTY_TEXTS.map((text) => JSON.stringify(text)),
    ),
  },
  { weight: 6, arbitrary: refusedValue },
  { weight: 4, arbitrary: dropped },
  { weight: 2, arbitrary: repeated },
  { weight: 4, arbitrary: added },
  { weight: 2, arbitrary: replaced('polluting', POLLUTING) },
  { weight: 3, arbitrary: wrapped },
  { weight: 4, arbitrary: otherBody },
  { weight: 3, arbitrary: ofAnyJson },
  { weight: 1, arbitrary: tooLarge },
);
