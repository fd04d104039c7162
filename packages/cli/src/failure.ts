import { FlorinError } from '@florin/sdk';
import { CommanderError } from 'commander';
import { note } from './terminal.ts';

const FAILED = 1;
const WRONG_USAGE = 2;

interface FailureOptions {
  exitCode?: number;
  /** The page about the code. */
  docUrl?: string | undefined;
  cause?: unknown;
}

/** A failure with a one-line message for the user. */
export class CommandFailure extends Error {
  readonly code: string;
  readonly exitCode: number;
  readonly docUrl: string | undefined;

  constructor(code: string, message: string, { exitCode = FAILED, docUrl, cause }: FailureOptions = {}) {
    super(message, { cause });
    this.docUrl = docUrl;
    this.code = code;
    this.exitCode = exitCode;
  }
}

/** The command line is wrong, whatever the state of the service. */
export function wrongUsage(message: string): CommandFailure {
  return new CommandFailure('usage', message, { exitCode: WRONG_USAGE });
}

export const reasonOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

/** Runs `work`, for example on a file; an error is reported as `failed` with its reason. @throws CommandFailure */
export function attempt<T>(code: string, failed: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw new CommandFailure(code, `${failed}: ${reasonOf(error)}`, { cause: error });
  }
}

/** Prints an error once on standard error. @returns the exit code */
export function reportError(error: unknown, { json }: { json: boolean }): number {
  const failure = failureOf(error);
  if (failure.exitCode === 0) return 0;
  const { code, message, docUrl } = failure;
  if (json) note(JSON.stringify({ error: { code, message, doc_url: docUrl } }));
  // Commander has written its own lines by now.
  else if (!(error instanceof CommanderError))
    note(`florin: ${message}${docUrl === undefined ? '' : ` See ${docUrl}`}`);
  if (process.env.FLORIN_LOG_LEVEL === 'debug' && error instanceof Error) note(error.stack ?? '');
  return failure.exitCode;
}

function failureOf(error: unknown): CommandFailure {
  if (error instanceof CommandFailure) return error;
  if (error instanceof FlorinError) {
    const { code, message, docUrl } = error;
    return new CommandFailure(code, message, { docUrl, cause: error });
  }
  if (error instanceof CommanderError) {
    const message = error.message.replace(/^error: /, '').replaceAll('\n', ' ');
    return new CommandFailure('usage', message, { exitCode: error.exitCode === 0 ? 0 : WRONG_USAGE });
  }
  return new CommandFailure('internal_error', reasonOf(error));
}
