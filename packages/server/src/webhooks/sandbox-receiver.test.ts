import { expect, test } from 'vitest';
import { answerInSandbox } from './sandbox-receiver.ts';

const answered = (url: string, sandbox = true) => answerInSandbox({ url, sandbox });

test('a sandbox merchant is answered with the status in the path', () => {
  for (const status of [200, 302, 410, 500])
    expect(answered(`https://webhooks.test/${status}`)).toMatchObject({ failure: null, status });
});

test('everybody else is sent over the network', () => {
  expect(answered('https://webhooks.test/200', false)).toBeUndefined();
  for (const url of [
    'https://webhooks.test/',
    'https://webhooks.test/100',
    'https://webhooks.test/2000',
    'https://webhooks.test/200/x',
    'https://webhooks.test:8443/200',
    'https://a.webhooks.test/200',
    'https://webhooks.test.example/200',
    'https://shop.example/200',
  ])
    expect(answered(url), url).toBeUndefined();
});
