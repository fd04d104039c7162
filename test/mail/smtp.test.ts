import { type AddressInfo, createConnection, createServer, type Server, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { type Message, sendMessage } from '../../packages/server/src/mail/smtp.ts';
import { refusal, startMailServer } from './mail-server.ts';

const message: Message = {
  messageId: '<mail_1@shop.example>',
  to: 'ada@example.com',
  subject: 'Ihre Rückerstattung – 12.50 USDT',
  text: 'Grüße\n.\nEnde',
  html: '<p>Grüße</p>',
};
const serverOn = (port: number) => ({
  host: '127.0.0.1',
  port,
  isTls: false,
  user: undefined,
  password: undefined,
  from: { name: 'Shop', address: 'no-reply@shop.example' },
  publicUrl: 'https://pay.example',
});
const listenOn = async (server: Server) => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
};
const marked = () => {
  const calls: string[] = [];
  return { calls, beforeEnd: async () => void calls.push('marked') };
};

test('a mail is handed over whole, and marked before its end goes out', async () => {
  const server = await startMailServer();
  const { calls, beforeEnd } = marked();
  const wasTaken: number[] = [];
  const result = await sendMessage(serverOn(server.port), message, async () => {
    wasTaken.push(server.taken.length);
    await beforeEnd();
  });
  expect(result).toEqual({ kind: 'accepted' });
  expect(calls).toEqual(['marked']);
  expect(wasTaken).toEqual([0]);
  const [mail] = server.taken;
  expect(mail).toMatchObject({ from: 'no-reply@shop.example', to: ['ada@example.com'] });
  expect(mail?.raw).toContain('From: Shop <no-reply@shop.example>');
  expect(mail?.raw).toContain('Message-ID: <mail_1@shop.example>');
  expect(mail?.raw).toContain('multipart/alternative');
  await server.stop();
});

test('a mark that fails lets the server have nothing', async () => {
  const server = await startMailServer();
  const result = await sendMessage(serverOn(server.port), message, async () => {
    throw new Error('the job was taken over');
  });
  expect(result).toMatchObject({ kind: 'unanswered', isOut: false });
  expect(server.taken).toEqual([]);
  await server.stop();
});

test.each([
  [451, 'try later'],
  [552, 'mailbox full'],
])('what the server says to the mail is told: %i', async (code, text) => {
  const server = await startMailServer({}, () => {
    throw refusal(code, text);
  });
  const { calls, beforeEnd } = marked();
  const result = await sendMessage(serverOn(server.port), message, beforeEnd);
  expect(result).toMatchObject({ kind: 'refused', code });
  expect(calls).toEqual(['marked']);
  await server.stop();
});

test('a refused recipient is told without the address, and nothing is marked', async () => {
  const server = await startMailServer({
    onRcptTo: (address, _session, done) => done(refusal(550, `no such user ${address.address}`)),
  });
  const { calls, beforeEnd } = marked();
  const result = await sendMessage(serverOn(server.port), message, beforeEnd);
  expect(result).toMatchObject({ kind: 'refused', code: 550 });
  expect(JSON.stringify(result)).not.toContain('ada@example.com');
  expect(calls).toEqual([]);
  await server.stop();
});

test('a server that takes the mail and dies before it says so may have it', async () => {
  const sockets: Socket[] = [];
  const server = await startMailServer({}, async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise(() => {});
  });
  const between = createServer((from) => {
    const to = createConnection(server.port, '127.0.0.1');
    sockets.push(from, to);
    for (const socket of [from, to]) socket.on('error', () => {});
    from.pipe(to).pipe(from);
  });
  const port = await listenOn(between);
  const result = await sendMessage(serverOn(port), message, async () => {});
  expect(result).toMatchObject({ kind: 'unanswered', isOut: true });
  between.close();
  await server.stop();
});

test('nobody there, silence in the middle of a greeting, and a wrong password', async () => {
  const gone = await startMailServer();
  await gone.stop();
  expect(await sendMessage(serverOn(gone.port), message, async () => {})).toMatchObject({
    kind: 'unanswered',
    isOut: false,
  });
  const html = createServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n<html>'));
  const port = await listenOn(html);
  expect((await sendMessage(serverOn(port), message, async () => {})).kind).not.toBe('accepted');
  html.close();
  const server = await startMailServer({
    authOptional: false,
    allowInsecureAuth: true,
    onAuth: (_auth, _session, done) => done(refusal(535, 'who are you')),
  });
  const account = { ...serverOn(server.port), user: 'shop', password: 'wrong' };
  expect(await sendMessage(account, message, async () => {})).toMatchObject({ kind: 'refused', code: 535 });
  await server.stop();
});
