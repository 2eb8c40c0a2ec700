import { type BrowserFrame, decodeBrowserFrame } from '@slipway/contracts/live';

/**
 * Puts frames on a canvas, the newest when several came. A frame is said to be seen when it is on the screen, so a busy
 * or hidden page sets the pace: while it is hidden nothing is painted, and after a few frames none is sent.
 */
export class FramePainter {
  private canvas: HTMLCanvasElement | null = null;
  private sizes: ResizeObserver | null = null;
  private picture: ImageBitmap | null = null;
  private waiting: BrowserFrame | null = null;
  private busy = false;
  private readonly seen: (frame: number) => void;
  private readonly painted: () => void;

  /** @param seen called for each frame that is on the screen. @param painted called after each. */
  constructor(seen: (frame: number) => void, painted: () => void) {
    this.seen = seen;
    this.painted = painted;
  }

  /** The canvas that is there now; it shows the last picture at once, and again when its size is another. */
  readonly attach = (canvas: HTMLCanvasElement | null): void => {
    this.sizes?.disconnect();
    this.canvas = canvas;
    if (canvas === null) return;
    this.sizes = new ResizeObserver(() => this.draw());
    this.sizes.observe(canvas);
  };

  take(bytes: Uint8Array<ArrayBuffer>): void {
    const frame = decodeBrowserFrame(bytes);
    if (frame === null) return;
    this.waiting = frame;
    if (!this.busy) void this.work();
  }

  private async work(): Promise<void> {
    this.busy = true;
    for (let frame = this.waiting; frame !== null; frame = this.waiting) {
      this.waiting = null;
      // What is no picture is passed over: the next one will be.
      const picture = await createImageBitmap(new Blob([frame.jpeg], { type: 'image/jpeg' })).catch(() => null);
      await new Promise((resolve) => requestAnimationFrame(resolve));
      if (picture !== null) {
        this.picture?.close();
        this.picture = picture;
        this.draw();
        this.painted();
      }
      this.seen(frame.number);
    }
    this.busy = false;
  }

  /** In the screen's own pixels: the browser makes large pictures small with less care than a canvas does. */
  private draw(): void {
    const { canvas, picture } = this;
    if (canvas === null || picture === null) return;
    const width = Math.max(1, Math.min(picture.width, Math.round(canvas.clientWidth * window.devicePixelRatio)));
    const height = Math.max(1, Math.round((width / picture.width) * picture.height));
    if (canvas.width !== width || canvas.height !== height) {
      canvas.width = width;
      canvas.height = height;
    }
    const context = canvas.getContext('2d', { alpha: false });
    if (context === null) return;
    context.imageSmoothingQuality = 'high';
    context.drawImage(picture, 0, 0, width, height);
  }
}
