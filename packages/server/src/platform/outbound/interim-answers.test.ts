import fc from 'fast-check';
import { expect, test } from 'vitest';
import { InterimAnswers } from './interim-answers.ts';

/** What goes on to the client, where the bytes come in pieces that end at these places. */
function passed(text: string, ends: readonly number[] = []): string {
  const interim = new InterimAnswers();
  interim.begin();
  const cuts = [0, ...ends.filter((end) => end < text.length).sort((a, b) => a - b), text.length];
  const pieces = cuts.slice(1).map((end, index) => Buffer.from(text.slice(cuts[index], end), 'latin1'));
  for (const piece of pieces) interim.pass(piece);
  return Buffer.concat(pieces).toString('latin1');
}

const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n';
const FINAL = 'HTTP/1.1 200 OK\r\nX-Text: HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n';

test('a 100 becomes a 102, headers of its own or not, and what follows stays as it is', () => {
  expect(passed(CONTINUE + FINAL)).toBe(`HTTP/1.1 102 Continue\r\n\r\n${FINAL}`);
  const long = 'HTTP/1.1 100 Continue\r\nX: 100\r\nY: 1\r\n\r\n';
  expect(passed(long + CONTINUE + FINAL)).toBe(
    `${long.replace(' 100 ', ' 102 ')}HTTP/1.1 102 Continue\r\n\r\n${FINAL}`,
  );
});

test('other interim answers and final ones are left alone', () => {
  for (const status of ['101', '103', '110', '199', '200', '500', '10', 'abc', '1000', '010']) {
    const text = `HTTP/1.1 ${status} Said\r\n\r\n${FINAL}`;
    if (status !== '1000') expect(passed(text)).toBe(text);
  }
  expect(passed('')).toBe('');
  expect(passed('nonsense')).toBe('nonsense');
});

test('it does not matter where the pieces end, nor which line ends are used', () => {
  const heads = fc.array(fc.constantFrom(CONTINUE, 'HTTP/1.1 103 Hints\r\nA: b\r\n\r\n', '\r\n', '\n'));
  const text = fc.tuple(heads, fc.boolean()).map(([parts, isBare]) => {
    const whole = parts.join('') + FINAL;
    return isBare ? whole.replaceAll('\r\n', '\n') : whole;
  });
  fc.assert(
    fc.property(text, fc.array(fc.nat(300)), (whole, ends) => {
      expect(passed(whole, ends)).toBe(passed(whole));
      expect(passed(whole)).toBe(
        whole
          .slice(0, whole.lastIndexOf('HTTP/1.1 200'))
          .replaceAll('HTTP/1.1 100', 'HTTP/1.1 102')
          .concat(whole.slice(whole.lastIndexOf('HTTP/1.1 200'))),
      );
    }),
  );
});
