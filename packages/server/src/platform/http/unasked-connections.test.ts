import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { expect, test } from 'vitest';
import { followUnasked } from './unasked-connections.ts';

test('a connection on which nothing was asked is ended, and one with an answer under way is not', async () => {
  const answers: (() => void)[] = [];
  const server = createServer((_request, response) => answers.push(() => response.end('whole')));
  const endUnasked = followUnasked(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const silent = connect(port, '127.0.0.1');
  await once(server, 'connection');
  const asking = once(server, 'request');
  const answer = fetch(`http://127.0.0.1:${port}`);
  await asking;
  endUnasked();
  // Nobody read or wrote anything: the server alone can have ended it.
  silent.resume();
  await once(silent, 'close');
  for (const send of answers) send();
  expect(await (await answer).text()).toBe('whole');
  server.close();
});
