import { createHash } from 'node:crypto';
import { htmlAnswer, type PublicPage } from '../../platform/http/pages/index.ts';
import { documentOf } from './markup.ts';
import { SCRIPT } from './script.ts';
import { STYLE } from './style.ts';

// The pages on which people come in and set up what is their own. The secret of a link stands behind the `#`: it reaches
// the script alone, and no log of a server.

const PAGES = {
  '/console/sign-in': { title: 'Sign in', heading: 'Sign in' },
  '/console/link': { title: 'Your link', heading: 'Your link' },
  '/console/account': { title: 'Your account', heading: 'Your account' },
};

const digestOf = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

const POLICY = {
  'script-src': digestOf(SCRIPT),
  'style-src': digestOf(STYLE),
  'img-src': 'data:',
  'connect-src': "'self'",
};

/** Where people sign in, where invitations and links lead, and where people find what is their own. */
export const peoplePages = (): PublicPage[] =>
  Object.entries(PAGES).map(([path, names]) => {
    const html = documentOf(names, { style: STYLE, script: SCRIPT });
    return { path, handle: async () => htmlAnswer({ html, policy: POLICY }) };
  });
