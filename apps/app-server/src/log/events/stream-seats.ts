import { OpenSeats, type SeatLimits } from '@slipway/domain';
import { SlipwayError } from '@slipway/errors';
import { Counter, Gauge, type Registry } from '@slipway/telemetry/http';

/** How many event streams, sockets and subscriptions one user and one organization have open in this process. */
export class StreamSeats {
  private readonly seats: OpenSeats;
  private readonly refused: Counter<'of'>;

  constructor(
    private readonly limits: SeatLimits,
    metrics: Registry,
  ) {
    const seats = new OpenSeats(limits);
    this.seats = seats;
    this.refused = new Counter({
      name: 'streams_refused_total',
      help: 'Refused streams, sockets and subscriptions; of is the limit reached, user or org',
      labelNames: ['of'],
      registers: [metrics],
    });
    new Gauge({
      name: 'streams_open',
      help: 'Open event streams, sockets and subscriptions',
      registers: [metrics],
      collect() {
        this.set(seats.open);
      },
    });
    new Gauge({
      name: 'streams_fullest',
      help: 'Largest number that one user or one organization has on this replica; of is user or org',
      labelNames: ['of'],
      registers: [metrics],
      collect() {
        const { user, org } = seats.fullest;
        this.set({ of: 'user' }, user);
        this.set({ of: 'org' }, org);
      },
    });
  }

  /** @returns what gives the seat back. @throws SlipwayError `stream.limit`. */
  take(of: Parameters<OpenSeats['take']>[0]): () => void {
    const seat = this.seats.take(of);
    if (typeof seat !== 'string') return seat;
    this.refused.inc({ of: seat });
    const { perUser, perOrg } = this.limits;
    const whose = seat === 'user' ? `You have ${perUser}` : `Your organization has ${perOrg}`;
    throw new SlipwayError('stream.limit', `${whose} streams open, which is the most.`, { retryAfterSeconds: 10 });
  }
}
