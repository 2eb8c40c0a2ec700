import { Controller, Get, Inject, Post, Query, UseGuards } from '@nestjs/common';
import { SlipwayError } from '@slipway/errors';
import type { PoolSpec } from '../pool/pool-context.js';
import { ApiKeyGuard } from './api-key.guard.js';

export const POOLS = Symbol('the pools of this installation');

/** Where a sandbox's workspace is, as OpenHands' app server writes it into its own requests. */
const WORKING_DIR = '/workspace';
const NO_BUILDS = 'Images are not built here. Name one of GET /api/warm-runtime-configs, or leave the image out.';

/**
 * What OpenHands' clients ask of images, beside sessions. Images are the installation's own: each is a template with
 * warm sandboxes.
 */
@Controller()
@UseGuards(ApiKeyGuard)
export class ImagesController {
  constructor(@Inject(POOLS) private readonly pools: readonly PoolSpec[]) {}

  /** Nothing stands before the names of images. */
  @Get('registry_prefix')
  registryPrefix(): { registry_prefix: string } {
    return { registry_prefix: '' };
  }

  @Get('image_exists')
  imageExists(@Query('image') image: unknown): { exists: boolean; image: { name: string } | null } {
    const found = this.pools.find(
      (pool) => typeof image === 'string' && (pool.image === image || pool.imageReference === image),
    );
    return { exists: found !== undefined, image: found === undefined ? null : { name: found.image } };
  }

  /** Each template once, whatever its sizes. */
  @Get('api/warm-runtime-configs')
  warmRuntimeConfigs(): { configs: object[] } {
    const images = [...new Set(this.pools.map(({ image }) => image))];
    return {
      configs: images.map((image) => ({ name: image, image, command: [], environment: {}, working_dir: WORKING_DIR })),
    };
  }

  @Post('build')
  build(): never {
    throw new SlipwayError('feature.not-here', NO_BUILDS);
  }

  @Get('build_status')
  buildStatus(): never {
    throw new SlipwayError('feature.not-here', NO_BUILDS);
  }
}
