import { ACCOUNT } from './script-account.ts';
import { BASICS } from './script-basics.ts';
import { COME } from './script-come.ts';
import { FACTORS } from './script-factors.ts';
import { PASSKEYS } from './script-passkeys.ts';
import { SESSIONS } from './script-sessions.ts';

/** The script of the pages on which people come in and set up what is their own. Text is shown as text, never as HTML. */
export const SCRIPT = [BASICS, PASSKEYS, SESSIONS, FACTORS, ACCOUNT, COME].join('');
