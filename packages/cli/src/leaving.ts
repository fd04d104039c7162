const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** The first signal stops the command gracefully with 0; a second one kills it. */
export function leavingSignal(): AbortSignal {
  const leaving = new AbortController();
  for (const signal of STOP_SIGNALS) process.once(signal, () => leaving.abort());
  return leaving.signal;
}
