import { renderMail } from '@florin/pages';
import type { MailConfig } from '../platform/config.ts';
import type { Tx } from '../platform/db/index.ts';
import { crashPoint, type Job, type JobOutcome, type JobRun, Semaphore } from '../platform/jobs/index.ts';
import type { Metrics } from '../platform/observability/index.ts';
import type { Platform } from '../platform/platform.ts';
import { encodeId } from '../tenancy/index.ts';
import { changeMail, lockMail, type MailRow, renameCause } from './queries.ts';
import { afterAttempt, type SendResult } from './states.ts';

const ATTEMPTS = {
  name: 'florin_mail_attempt_duration_seconds',
  help: 'Attempts to hand a mail to the mail server, by the state of the mail after them.',
  labelNames: ['status'],
};

export interface MailDeps extends Platform {
  metrics: Pick<Metrics, 'observe'>;
  /** Undefined: mails of real money are not sent. */
  mailServer: MailConfig | undefined;
  /**
   * Makes the link of an invitation anew: the one before works no more. Undefined where it was used, withdrawn or has ended.
   *
   * @param cause of the mail, as the link's present secret is known by
   */
  renewLink: (tx: Tx, cause: string) => Promise<{ cause: string; path: string } | undefined>;
}

/** Conversations with the mail server at once; a slow one costs no more. */
const connections = new Semaphore(5);

/**
 * Handles `SEND_MAIL_JOB`. Before its last byte goes out the mail is `sending` in the database; a mail that is found so was
 * given up by a process that ended, and may have been taken.
 */
export async function sendMail(deps: MailDeps, job: Job, run: JobRun): Promise<JobOutcome> {
  const mailId = String(job.payload.mailId);
  const { mailServer: server } = deps;
  const mail = await run.step(async (tx) => {
    const found = await lockMail(tx, job.merchantId, mailId);
    if (found?.status === 'sending') {
      const error = 'the process ended while it was being sent';
      await end(tx, deps, found, { status: 'unconfirmed', error, attempts: found.attempts + 1 });
    } else if (found?.status === 'pending' && server === undefined)
      await end(tx, deps, found, { status: 'off', error: null, attempts: 0 });
    else if (found?.status === 'pending' && found.kind === 'invitation') return await linked(tx, deps, found);
    return found;
  });
  if (mail?.status !== 'pending' || server === undefined) return 'done';
  const message = {
    ...(await renderMail(mail.view, server.publicUrl)),
    messageId: `<${encodeId('mail', mailId)}@${server.from.address.split('@')[1]}>`,
    to: mail.recipient,
  };
  crashPoint('mail.before-connection');
  // Loaded with the first mail: most processes never send one.
  const { sendMessage } = await import('./smtp.ts');
  const release = await connections.acquire();
  const startedMs = performance.now();
  const result = await sendMessage(server, message, async () => {
    crashPoint('mail.before-mark');
    await run.step(async (tx) => {
      const marked = await lockMail(tx, job.merchantId, mailId);
      if (marked !== undefined) await changeMail(tx, marked, { status: 'sending' });
    });
    crashPoint('mail.marked');
  }).finally(release);
  const seconds = (performance.now() - startedMs) / 1000;
  crashPoint('mail.answered');
  return await recordResult(deps, job, run, { mailId, result, seconds });
}

/**
 * An invitation with its link, which stands nowhere: a crash before it is out, or another attempt, makes another one.
 *
 * @returns undefined: it invites to nothing any more
 */
async function linked(tx: Tx, deps: MailDeps, mail: MailRow): Promise<MailRow | undefined> {
  const renewed = await deps.renewLink(tx, mail.cause);
  if (renewed === undefined) {
    const error = 'the invitation was used, withdrawn or replaced, or has ended';
    await end(tx, deps, mail, { status: 'failed', error, attempts: mail.attempts });
    return undefined;
  }
  const { cause, path } = renewed;
  await renameCause(tx, mail, cause);
  return { ...mail, cause, view: { ...mail.view, link: { to: 'invitation', path } } };
}

async function recordResult(
  deps: MailDeps,
  job: Job,
  run: JobRun,
  { mailId, result, seconds }: { mailId: string; result: SendResult; seconds: number },
): Promise<JobOutcome> {
  const realMs = deps.clock.nowMs();
  return await run.finish(
    async (tx): Promise<JobOutcome> => {
      const mail = await lockMail(tx, job.merchantId, mailId);
      if (mail === undefined) return 'done';
      const nowSeconds = Math.floor(realMs / 1000);
      const attempts = mail.attempts + 1;
      const next = afterAttempt(result, attempts, nowSeconds - Number(mail.created_at));
      const { status, error } = next;
      deps.metrics.observe(ATTEMPTS, seconds, { status });
      if (status !== 'pending') {
        await end(tx, deps, mail, { status, error, attempts });
        return 'done';
      }
      await changeMail(tx, mail, { status, error, attempts });
      logMail(deps, mail, { status, error, attempts });
      return { againAtMs: realMs + next.againInSeconds * 1000 };
    },
    (outcome) => outcome,
  );
}

interface Ended {
  status: 'sent' | 'failed' | 'unconfirmed' | 'off';
  error: string | null;
  attempts: number;
}

async function end(tx: Tx, deps: MailDeps, mail: MailRow, ended: Ended): Promise<void> {
  await changeMail(tx, mail, { ...ended, ended_at: deps.clock.nowSeconds() });
  logMail(deps, mail, ended);
}

/** Without the address. */
function logMail(
  { log }: MailDeps,
  { merchant_id: merchantId, mail_id: mailId, kind }: MailRow,
  { status, error, attempts }: { status: keyof typeof LOG_TEXTS; error: string | null; attempts: number },
): void {
  const fields = { merchantId, mail_id: encodeId('mail', mailId), kind, attempts, error };
  const level = status === 'sent' || status === 'off' ? 'info' : 'warn';
  log[level](fields, LOG_TEXTS[status]);
}

const LOG_TEXTS = {
  sent: 'a mail was sent',
  pending: 'a mail could not be sent, and is tried again',
  failed: 'a mail could not be sent, and is given up',
  unconfirmed: 'a mail may have been sent: the mail server did not answer, and it is not sent twice',
  off: 'a mail was not sent: FLORIN_SMTP_URL is not set',
};
