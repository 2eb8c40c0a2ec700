import { SlipwayError } from '@slipway/errors';
import { Recording, type RecordingOptions } from './recording.js';
import type { Tab } from './tab.js';

/** The recording of a browser, one at a time. It outlives neither the browser nor its own bounds. */
export class Recordings {
  #running: Recording | null = null;

  constructor(private readonly options: RecordingOptions) {}

  /** Begins with these tabs. @throws SlipwayError as `Recording.start`. */
  async start(tabs: readonly Tab[]): Promise<string> {
    if (this.#running !== null && !this.#running.isOver)
      return `It is being recorded already, into ${this.#running.folder}.`;
    this.#running = await Recording.start(this.options, new Date());
    await this.follow(tabs);
    return `Recording, into ${this.#running.folder}. browser_stop_recording ends it.`;
  }

  /** Tabs that are new are recorded too. */
  async follow(tabs: readonly Tab[]): Promise<void> {
    await Promise.all(tabs.map((tab) => this.#running?.follow(tab)));
  }

  /** @throws SlipwayError `browser.refused` when there is none, or what there is could not be kept. */
  async stop(): Promise<string> {
    const recording = this.#running;
    if (recording === null)
      throw new SlipwayError('browser.refused', 'Nothing is being recorded. browser_start_recording begins it.');
    this.#running = null;
    const { events, files, failure } = await recording.stop();
    if (failure !== null)
      throw new SlipwayError(
        'browser.refused',
        `The recording could not be kept as a whole: ${failure} What there is lies in ${recording.folder}.`,
      );
    return `Recorded ${events} events in ${files} ${files === 1 ? 'file' : 'files'}, in ${recording.folder}. rrweb-player replays each tab by the events of its files, one after the other.`;
  }

  /** The browser is gone: what has come is kept. */
  end(): void {
    void this.#running?.stop().catch(() => {});
    this.#running = null;
  }
}
