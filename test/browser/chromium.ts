import { existsSync } from 'node:fs';
import { type Browser, type BrowserContext, chromium } from 'playwright-core';

const EXECUTABLE = '/usr/bin/chromium';
/** The same engine without what draws windows: half of the processor time. It knows no extensions. */
const SHELL = '/usr/bin/chromium-headless-shell';
/** Chromium's own calls home would be taken for the page's. */
const FLAGS = [
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Whether the browser tests can run here; prints why not. */
export function hasChromium(): boolean {
  const there = existsSync(EXECUTABLE);
  if (!there) console.log(`skipped: there is no ${EXECUTABLE} (apt-get install chromium)`);
  return there;
}

/** A browser with a profile of its own. As root Chromium starts without its sandbox only. */
export async function openBrowser(): Promise<Browser> {
  return await chromium.launch({
    executablePath: existsSync(SHELL) ? SHELL : EXECUTABLE,
    args: FLAGS,
    chromiumSandbox: process.getuid?.() !== 0,
  });
}

/** A browser with an unpacked extension and a profile in the folder. */
export async function openWithExtension(profile: string, extension: string): Promise<BrowserContext> {
  return await chromium.launchPersistentContext(profile, {
    executablePath: EXECUTABLE,
    // Playwright's own headless mode knows no extensions; Chromium's does.
    headless: false,
    args: [
      ...FLAGS,
      '--headless=new',
      '--disable-features=DisableLoadExtensionCommandLineSwitch',
      `--disable-extensions-except=${extension}`,
      `--load-extension=${extension}`,
    ],
    ignoreDefaultArgs: ['--disable-extensions'],
    chromiumSandbox: process.getuid?.() !== 0,
  });
}
