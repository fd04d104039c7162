import { type MailsList, renderList, renderPage } from '@florin/pages';
import { listCaughtMails, readCaughtMail } from '../../mail/index.ts';
import { htmlAnswer, type PageRequest, type PublicPage } from '../../platform/http/pages/index.ts';
import type { Platform } from '../../platform/platform.ts';
import { LIVE_SCRIPT, listAnswer, refuseForeign, refuseOthers, type SandboxOwner } from '../local-pages.ts';
import { timeOf } from './view.ts';

const MAILS_SHOWN = 30;

export const MAILS_PATH = '/sandbox/mails';
const LIST_PATH = `${MAILS_PATH}/list`;
/** A mail has its style in itself, and nothing of it runs. */
const MAIL_POLICY = { 'style-src': "'unsafe-inline'", 'img-src': "'self'" };

/** The mail that the sandbox would have sent: a list, and each as its reader would see it. */
export function mailPages(platform: Platform, owner: SandboxOwner): PublicPage[] {
  return [
    {
      path: MAILS_PATH,
      handle: async (request) => {
        refuseForeign(request);
        const paths = { scriptPath: LIVE_SCRIPT, listPath: LIST_PATH };
        const list = await readList(platform, owner, request);
        return htmlAnswer(await renderPage({ page: 'mails', ...paths, ...list }));
      },
    },
    {
      path: LIST_PATH,
      handle: async (request) => {
        refuseOthers(request);
        const list = await readList(platform, owner, request);
        return listAnswer(request, await renderList({ page: 'mails', ...list }));
      },
    },
    {
      path: `${MAILS_PATH}/{mail_id}`,
      handle: async (request) => {
        refuseForeign(request);
        const mail = { id: request.params.mail_id ?? '', publicUrl: addressOf(request) };
        const html = await readCaughtMail(platform, owner.merchantId, mail);
        return htmlAnswer({ html, policy: MAIL_POLICY });
      },
    },
  ];
}

/** Links lead back to where the browser has the page from. */
const addressOf = ({ headers }: PageRequest) => `http://${headers.host}`;

async function readList(
  platform: Platform,
  { merchantId }: SandboxOwner,
  request: PageRequest,
): Promise<MailsList> {
  const shown = { limit: MAILS_SHOWN, publicUrl: addressOf(request) };
  const mails = await listCaughtMails(platform, merchantId, shown);
  return {
    mails: mails.map(({ id, kind, to, language, about, created, subject, text }) => ({
      id,
      kind,
      to,
      language,
      about,
      createdAt: timeOf(created),
      subject: subject ?? '',
      text: text ?? '',
      htmlPath: `${MAILS_PATH}/${id}`,
    })),
  };
}
