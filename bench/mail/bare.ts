// Hands mails to a mail server by the service's own conversation, with no row and no job behind them.
import type { MailView } from '@florin/pages';
import { renderMail } from '@florin/pages';
import { sendMessage } from '../../packages/server/src/mail/smtp.ts';
import type { MailConfig } from '../../packages/server/src/platform/config.ts';
import { argument, say } from '../child.ts';

const { server, view, count, connections } = argument<{
  server: MailConfig;
  view: MailView;
  count: number;
  connections: number;
}>();

let left = count;
async function drive(): Promise<void> {
  while (left > 0) {
    left -= 1;
    const message = {
      ...(await renderMail(view, server.publicUrl)),
      messageId: `<${left}@bench.example>`,
      to: 'payer@bench.example',
    };
    const result = await sendMessage(server, message, async () => {});
    if (result.kind !== 'accepted') throw new Error(`the mail server took no mail: ${result.kind}`);
  }
}
await Promise.all(Array.from({ length: connections }, drive));
say({});
