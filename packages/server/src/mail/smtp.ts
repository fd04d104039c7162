import { Readable } from 'node:stream';
import MailComposer from 'nodemailer/lib/mail-composer';
import SMTPConnection from 'nodemailer/lib/smtp-connection';
import type { MailConfig } from '../platform/config.ts';
import type { SendResult } from './states.ts';

/** A message as it goes out. */
export interface Message {
  /** The same in every attempt, so that a mailbox that got it twice can tell. */
  messageId: string;
  to: string;
  subject: string;
  text: string;
  html: string;
}

const CONNECT_MS = 10_000;
const SILENCE_MS = 60_000;

/**
 * Hands a message to the mail server.
 *
 * @param beforeEnd runs when all bytes but the end are out; the server takes nothing before it has the end. If it throws, the
 * server is never given the end
 */
export async function sendMessage(
  server: MailConfig,
  message: Message,
  beforeEnd: () => Promise<void>,
): Promise<SendResult> {
  let isOut = false;
  const { name, address } = server.from;
  const from = name === '' ? address : { name, address };
  const bytes = await new MailComposer({ ...message, from }).compile().build();
  const connection = connectionOf(server);
  try {
    await withinConnection(connection, (done) => connection.connect(done));
    const { user, password } = server;
    if (user !== undefined)
      await withinConnection(connection, (done) =>
        connection.login({ user, pass: password ?? '' }, (error) => done(error ?? undefined)),
      );
    const body = Readable.from(
      (async function* () {
        yield bytes;
        await beforeEnd();
        isOut = true;
      })(),
    );
    const envelope = { from: address, to: [message.to], use8BitMime: true };
    await withinConnection(connection, (done) =>
      connection.send(envelope, body, (error) => done(error ?? undefined)),
    );
    connection.quit();
    return { kind: 'accepted' };
  } catch (error) {
    connection.close();
    return resultOf(error, isOut);
  }
}

const connectionOf = ({ host, port, isTls, user }: MailConfig) =>
  new SMTPConnection({
    host,
    port,
    secure: isTls,
    // A password never goes out in the clear, but to this machine.
    requireTLS: user !== undefined && !isTls && !/^(127\.|localhost$|::1$)/.test(host),
    opportunisticTLS: user === undefined,
    connectionTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    dnsTimeout: CONNECT_MS,
    socketTimeout: SILENCE_MS,
  });

/** Runs a step of the conversation; a connection that breaks meanwhile ends it. */
function withinConnection(
  connection: SMTPConnection,
  step: (done: (error?: Error) => void) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const ended = () => reject(new Error('the connection ended'));
    connection.once('error', reject);
    connection.once('end', ended);
    step((error) => {
      connection.off('error', reject);
      connection.off('end', ended);
      if (error === undefined) resolve();
      else reject(error);
    });
  });
}

const TEXT_MAX = 300;

/** Addresses are left out: an error is logged. */
function resultOf(error: unknown, isOut: boolean): SendResult {
  const text = (error instanceof Error ? error.message : String(error))
    .slice(0, TEXT_MAX)
    .split(' ')
    .map((word) => (word.includes('@') ? '…@…' : word))
    .join(' ');
  const code = error instanceof Error && 'responseCode' in error ? error.responseCode : undefined;
  if (typeof code === 'number' && code >= 400) return { kind: 'refused', code, text };
  return { kind: 'unanswered', isOut, text };
}
