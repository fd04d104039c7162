import { renderToString } from 'preact-render-to-string';
import { textsOf } from './catalogues.ts';
import { checkoutSheet } from './checkout/checkout-sheet.tsx';
import { claimCheckSheet, claimFormSheet, claimOutcomeSheet } from './claim/claim-sheets.tsx';
import { renderSheet, renderWide } from './design/shell.tsx';
import { FrontList, frontPage, servicePage } from './front/front-page.tsx';
import { InboxList } from './inbox/inbox-list.tsx';
import { inboxPage } from './inbox/inbox-page.tsx';
import { linkPosterSheet, linkSheet } from './link/link-sheets.tsx';
import { MailsList, mailsPage } from './mails/mails-page.tsx';
import { noticeSheet } from './notice-sheet.tsx';
import type { Renderer } from './renderer.ts';

export { renderMail } from './mail/mail.tsx';

import { portalCancelSheet, portalSheet, receiptSheet } from './subscription/portal-sheets.tsx';
import { subscribeSheet } from './subscription/subscribe-sheet.tsx';
import { troubleSheet } from './trouble/trouble-sheet.tsx';

export const render: Renderer['render'] = (view, scripts) => {
  switch (view.page) {
    case 'checkout':
      return renderSheet(checkoutSheet(view, scripts.checkout));
    case 'checkout_preview': {
      const page = {
        page: 'checkout',
        view: view.view,
        token: '',
        choosing: null,
        isAutoReturn: false,
      } as const;
      const { script: _, ...sheet } = checkoutSheet(page, scripts.checkout);
      return renderSheet(sheet);
    }
    case 'link':
      return renderSheet(linkSheet(view));
    case 'link_poster':
      return renderSheet(linkPosterSheet(view));
    case 'claim':
      return renderSheet(claimFormSheet(view));
    case 'claim_check':
      return renderSheet(claimCheckSheet(view));
    case 'claim_outcome':
      return renderSheet(claimOutcomeSheet(view));
    case 'subscribe':
      return renderSheet(subscribeSheet(view, scripts.subscribe));
    case 'portal':
      return renderSheet(portalSheet(view));
    case 'portal_cancel':
      return renderSheet(portalCancelSheet(view));
    case 'receipt':
      return renderSheet(receiptSheet(view));
    case 'notice':
      return renderSheet(noticeSheet(view));
    case 'trouble':
      return renderSheet(troubleSheet(view));
    case 'front':
      return renderWide(frontPage(view, scripts.live));
    case 'service':
      return renderWide(servicePage(view));
    case 'inbox':
      return renderWide(inboxPage(view, scripts.live));
    case 'mails':
      return renderWide(mailsPage(view, scripts.live));
  }
};

export const walletTexts: Renderer['walletTexts'] = (language) => textsOf('wallet', language);

export const renderList: Renderer['renderList'] = (list) => {
  switch (list.page) {
    case 'inbox':
      return renderToString(<InboxList list={list} />);
    case 'mails':
      return renderToString(<MailsList list={list} />);
    case 'front':
      return renderToString(<FrontList events={list.events} />);
  }
};
