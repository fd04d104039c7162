import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Block, readBlocks } from './server-sent.ts';

async function read(pieces: Iterable<Uint8Array>): Promise<Block[]> {
  const blocks: Block[] = [];
  for await (const block of readBlocks(
    (async function* () {
      yield* pieces;
    })(),
  ))
    blocks.push(block);
  return blocks;
}
const readText = (text: string) => read([new TextEncoder().encode(text)]);

/** The text cut at places that mean nothing, also inside of characters. */
function cut(text: string, places: readonly number[]): Uint8Array[] {
  const bytes = new TextEncoder().encode(text);
  const sorted = places.map((place) => place % (bytes.length + 1)).sort((a, b) => a - b);
  return [0, ...sorted].map((from, i) => bytes.subarray(from, sorted[i] ?? bytes.length));
}

const word = fc
  .string({ unit: 'binary' })
  .map((text) => text.toWellFormed().replaceAll(/[\r\n\0\ufeff]/g, '~'));
const events = fc.array(fc.record({ id: word, event: word, data: word }), { maxLength: 10 });

test('whatever the pieces are, what was written is read', async () => {
  await fc.assert(
    fc.asyncProperty(
      events,
      fc.array(fc.nat(), { maxLength: 30 }),
      fc.constantFrom('\n', '\r\n', '\r'),
      async (list, places, end) => {
        const text = list
          .map(({ id, event, data }) => [`id: ${id}`, `event: ${event}`, `data: ${data}`, '', ''].join(end))
          .join('');
        // The last line end may still be half a one.
        expect(await read(cut(`${text}:${end}`, places))).toEqual(list);
      },
    ),
  );
});

test('the forms of the standard: no space, several lines, no value, a comment, an unknown field, a half block', async () => {
  expect(
    await readText(
      'data:a\ndata: b\ndata\n\n: hello\n\nretry: 250\nid\nother: x\n\nretry: soon\n\ndata: cut',
    ),
  ).toEqual([{ data: 'a\nb\n' }, {}, { retry: 250, id: '' }, {}]);
  expect(await readText('id: a\0b\n\n\n\n')).toEqual([{}]);
});
