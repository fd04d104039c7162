// Loaded into a process before the service: a machine whose clock is TEST_CLOCK_AHEAD seconds ahead, and which is set
// an hour further, or a day, when it is sent SIGUSR2.
const realNow = Date.now;
const RealDate = Date;
const STEPS_SECONDS = [3_600, -2 * 3_600, 86_400, -2 * 86_400];
let aheadMs = Number(process.env.TEST_CLOCK_AHEAD ?? 0) * 1000;

const now = () => realNow() + aheadMs;
class SkewedDate extends RealDate {
  constructor(...args: unknown[]) {
    super(...((args.length === 0 ? [now()] : args) as [number]));
  }
  static override now = now;
}
Object.assign(globalThis, { Date: SkewedDate });

process.on('SIGUSR2', () => {
  aheadMs += (STEPS_SECONDS.shift() ?? 0) * 1000;
});
