import type { AddressInfo } from 'node:net';
import { SMTPServer, type SMTPServerOptions, type SMTPServerSession } from 'smtp-server';

/** A mail that the server has taken. */
export interface TakenMail {
  from: string;
  to: string[];
  raw: string;
}

export interface TestMailServer {
  port: number;
  taken: TakenMail[];
  stop(): Promise<void>;
}

type Answer = (mail: TakenMail) => Promise<void> | void;

/** Reads a mail whole. @returns the error by which it is refused */
async function take(
  stream: AsyncIterable<Buffer>,
  { envelope: { mailFrom, rcptTo } }: SMTPServerSession,
  answer: Answer,
): Promise<TakenMail | Error> {
  try {
    const chunks: Buffer[] = [];
    // Fails where the connection ends before the mail.
    for await (const chunk of stream) chunks.push(chunk);
    const raw = Buffer.concat(chunks).toString('utf8');
    const from = mailFrom === false ? '' : mailFrom.address;
    const mail = { from, to: rcptTo.map(({ address }) => address), raw };
    await answer(mail);
    return mail;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

/** A real SMTP server on loopback. @param answer throws what it says instead of taking a mail */
export async function startMailServer(
  options: Partial<SMTPServerOptions> = {},
  answer: Answer = () => {},
): Promise<TestMailServer> {
  const taken: TakenMail[] = [];
  const server = new SMTPServer({
    disabledCommands: ['STARTTLS'],
    authOptional: true,
    disableReverseLookup: true,
    ...options,
    onData: (stream, session, done) => {
      void take(stream, session, answer).then((mail) => {
        if (!(mail instanceof Error)) taken.push(mail);
        process.nextTick(done, mail instanceof Error ? mail : null);
      });
    },
  });
  // Connections that a test cuts.
  server.on('error', () => {});
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.server.address() as AddressInfo;
  return { port, taken, stop: () => new Promise((resolve) => server.close(() => resolve())) };
}

/** An error with which the server answers by that code. */
export const refusal = (responseCode: number, text: string) =>
  Object.assign(new Error(text), { responseCode });
