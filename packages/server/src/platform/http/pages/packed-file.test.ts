import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { packedAnswer } from './packed-file.ts';

const TEXT = 'what browsers load';
const packed = gzipSync(TEXT);
const answerTo = async (headers: Record<string, string>) =>
  await packedAnswer(
    { headers },
    { type: 'text/plain', version: 'v1', headers: { 'x-own': '1' }, read: async () => packed },
  );

test('a file goes out compressed to callers that take it, and whole to all others', async () => {
  const gzip = await answerTo({ 'accept-encoding': 'br, gzip' });
  expect(gzip).toMatchObject({
    status: 200,
    headers: { 'content-encoding': 'gzip', etag: '"v1"', 'x-own': '1' },
  });
  expect(gzip.body).toEqual(packed);
  for (const taken of [{}, { 'accept-encoding': 'br' }, { 'accept-encoding': 'gzip;q=0' }]) {
    const whole = await answerTo({ ...taken });
    expect(whole.headers).not.toHaveProperty('content-encoding');
    expect(whole.headers).toHaveProperty('vary', 'accept-encoding');
    expect(String(whole.body)).toBe(TEXT);
  }
});

test('a caller that has this version gets nothing of it', async () => {
  expect(await answerTo({ 'if-none-match': '"v1"' })).toMatchObject({ status: 304, body: '' });
  expect(await answerTo({ 'if-none-match': '"v0"' })).toMatchObject({ status: 200 });
});
