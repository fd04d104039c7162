import type { CheckoutPageView, CheckoutPreviewView } from './checkout.ts';
import type { ClaimCheckView, ClaimFormView, ClaimOutcomeView } from './claim.ts';
import type { FrontView, ServiceView } from './front.ts';
import type { InboxView } from './inbox.ts';
import type { LinkPosterView, LinkView } from './link.ts';
import type { MailsView } from './mails.ts';
import type { NoticeView } from './payer-page.ts';
import type { PortalCancelView, PortalView, ReceiptView, SubscribeView } from './subscription.ts';
import type { TroubleView } from './trouble.ts';

/** The data of a page: a plain object, which a server module builds and this package renders. */
export type PageView =
  | CheckoutPageView
  | CheckoutPreviewView
  | LinkView
  | LinkPosterView
  | ClaimFormView
  | ClaimCheckView
  | ClaimOutcomeView
  | SubscribeView
  | PortalView
  | PortalCancelView
  | ReceiptView
  | NoticeView
  | TroubleView
  | FrontView
  | ServiceView
  | InboxView
  | MailsView;
