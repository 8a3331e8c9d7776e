# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls of PyTorch operations that `tools/torch_support.py` and the tests trace and run."""

from __future__ import annotations

import linecache
import math
import re
from collections.abc import Sequence
from typing import Any

import torch


def tensors() -> dict[str, torch.Tensor]:
    """Return the inputs of the calls, by name."""
    generator = torch.Generator().manual_seed(0)

    def normal(*shape: int) -> torch.Tensor:
        return torch.randn(shape, generator=generator)

    x, m = normal(4, 6), normal(2, 4, 4)
    with_nan = x.clone()
    with_nan[1, 2] = with_nan[2, 5] = math.nan
    return {
        "x": x,
        "y": normal(4, 6),
        "p": torch.rand((4, 6), generator=generator) + 0.1,
        "v": normal(6),
        "n": with_nan,
        "i": torch.randint(0, 4, (4, 6), generator=generator),
        "j": torch.randint(0, 6, (5,), generator=generator),
        "b": x > 0,
        "c": torch.complex(x, normal(4, 6)),
        "m": m,
        "spd": m @ m.mT + 4 * torch.eye(4),
        "r": normal(2, 4, 3),
        "signal": normal(2, 3, 16),
        "image": normal(2, 3, 8, 8),
        "volume": normal(1, 2, 6, 6, 6),
        "q": normal(2, 4, 5, 8),
        "kv": normal(2, 2, 5, 8),
    }


def tensors_of(calls: Sequence[str]) -> dict[str, torch.Tensor]:
    """Return the inputs that calls use, by name."""
    words = {word for call in calls for word in re.findall(r"\w+", call)}
    return {name: tensor for name, tensor in tensors().items() if name in words}


CALLS = {
    "elementwise": """
        fmax(i,j[:1]) fmin(i,j[:1]) imag(conj(c))
        abs(x) acos(x) acosh(p+1) add(x,y) addcdiv(x,y,p) addcmul(x,y,p) angle(x) angle(c) asin(x)
        asinh(x) atan(x) atan2(x,y) atanh(x) bitwise_and(i,3) bitwise_left_shift(i,2) bitwise_not(i)
        bitwise_or(i,4) bitwise_right_shift(i,1) bitwise_xor(i,5) ceil(x) clamp(x,-1,1)
        clamp(x,min=y) clone(x) copysign(x,y) cos(x) cosh(x) deg2rad(x) digamma(p) eq(n,n) div(x,p)
        div(x,p,rounding_mode="floor") div(i,3,rounding_mode="trunc") eq(i,2) erf(x) erfc(x)
        erfinv(x*0.2) exp(x) exp2(x) expm1(x) fill(x,2.0) float_power(p,2) floor(x)
        floor_divide(i,3) fmax(n,y) fmin(n,y) fmod(x,p) frac(x) ge(x,y) gt(x,y) heaviside(x,p)
        hypot(x,y) isclose(x,x+1e-9) isfinite(n) isinf(n) isnan(n) le(x,y) lerp(x,y,0.3) lgamma(p)
        log(p) log10(p) log1p(p) log2(p) logaddexp(x,y) logaddexp2(x,y) logical_and(b,i>1)
        logical_not(b) logical_or(b,i>1) logical_xor(b,i>1) logit(p*0.5) lt(x,y) maximum(n,y)
        minimum(n,y) mul(x,y) nan_to_num(n,1.0) ne(i,2) neg(x) polygamma(1,p) pow(p,y) pow(x,3)
        rad2deg(x) reciprocal(p) remainder(x,p) remainder(i-2,3) round(x) round(x,decimals=1)
        rsqrt(p) rsub(x,y) sgn(x) sigmoid(x) sign(x) signbit(x) sin(x) sinc(x) sinh(x) sqrt(p)
        square(x) sub(x,y) tan(x) tanh(x) trunc(x) where(b,x,y) xlogy(p,p) frexp(x*1000)
        isfinite(i) isclose(i,i[:1]) reciprocal(i+1) isclose(b,b[:1])
        isclose(i.byte(),i[:1].byte(),atol=2)
        floor_divide(i*1.0,torch.tensor(0.1)) floor_divide(x,-torch.inf)
        div(y,x,rounding_mode="floor")
        div(x,y,rounding_mode=None) pow(i-2,i-3) pow(-1,i-2) pow(x,0.5) pow(p,-0.5)
        clamp(i,-1.5,2.5) hypot(x*1e30,y*1e30) hypot(n,x/0) isinf(b) xlogy(0,n) digamma(i)
        x.mul(100).byte()
        gcd(i*6,i.flip(0)*4-3) lcm(i*6,i.flip(0)*4) nextafter(x,y)
    """,
    "special functions": """
        special.bessel_j0(x*4) special.bessel_j1(x*4) special.bessel_y0(p*9) special.bessel_y1(p*9)
        special.chebyshev_polynomial_t(x,3) special.chebyshev_polynomial_u(x,3)
        special.chebyshev_polynomial_v(x,3) special.chebyshev_polynomial_w(x,3) special.entr(p)
        special.erfcx(x) special.gammainc(p,p*3) special.gammaincc(p*200,p.flip(0)*180)
        special.gammaincc(p*30,p.flip(0)*40) special.hermite_polynomial_h(x,4)
        special.hermite_polynomial_he(x,4) special.i0(x) special.i0e(x*9) special.i1(x)
        special.i1e(x*9) igamma(p,x.abs()) igammac(p*3,p.flip(0)*9)
        special.laguerre_polynomial_l(x,3) special.legendre_polynomial_p(x,3) special.log_ndtr(x*4)
        special.modified_bessel_i0(x) special.modified_bessel_i1(x)
        special.modified_bessel_k0(p*4) special.modified_bessel_k1(p*4)
        special.multigammaln(p+3,2) special.ndtr(x) special.ndtri(p*p/3)
        special.scaled_modified_bessel_k0(p*9) special.scaled_modified_bessel_k1(p*9)
        special.shifted_chebyshev_polynomial_t(p,3) special.shifted_chebyshev_polynomial_u(p,3)
        special.shifted_chebyshev_polynomial_v(p,3) special.shifted_chebyshev_polynomial_w(p,3)
        special.spherical_bessel_j0(x*2) special.spherical_bessel_j0(i-2)
        special.xlog1py(x,p) special.zeta(p+2,p)
        special.zeta(i-1.0,round(x*4)/2) special.zeta(torch.tensor(torch.inf),round(x*4)/2)
    """,
    "activations": """
        nn.functional.celu(x) nn.functional.elu(x) nn.functional.gelu(x)
        nn.functional.gelu(x,approximate="tanh") nn.functional.glu(x) nn.functional.hardshrink(x)
        nn.functional.hardsigmoid(x) nn.functional.hardswish(x) nn.functional.hardtanh(x)
        nn.functional.leaky_relu(x) nn.functional.log_softmax(x,1) nn.functional.logsigmoid(x)
        nn.functional.mish(x) nn.functional.prelu(x,v[:1]) nn.functional.relu(x)
        nn.functional.relu6(x) nn.functional.selu(x) nn.functional.silu(x)
        nn.functional.softmax(x,-1) nn.functional.softmin(x,0) nn.functional.softplus(x)
        nn.functional.softshrink(x) nn.functional.softsign(x) nn.functional.tanhshrink(x)
        nn.functional.threshold(x,0.1,2.0) nn.functional.silu(x.bfloat16())
        nn.functional.silu(c)
        nn.functional.softmax(x,0,dtype=torch.float64) nn.functional.softmax(x.sum(),0)
        ops.aten._softmax(x.bfloat16(),1,False)
        ops.aten._safe_softmax(where(x[:,:1]>0,x,-torch.inf),1)
    """,
    "reductions": """
        all(b) all(b,1) amax(x,1) amin(x,(0,1)) aminmax(x,dim=1) any(b) any(b,0,True) argmax(n,1)
        argmin(x) count_nonzero(i,1) cumsum(x,-1) logsumexp(x,1) max(x) max(n,1) mean(x)
        mean(x,(0,1),True) min(x,0) nanmean(n) nansum(n) norm(x) linalg.vector_norm(x,3,1) prod(x)
        prod(x,1) std(x,1) std_mean(x) sum(x) sum(i,1) sum(b) trace(x) var(x) var(x,0,correction=0)
        var_mean(x,1) dist(x,y) sum(v[0],0) cov(x) cov(x[0],correction=0) corrcoef(x) corrcoef(c)
        cov(x,fweights=i[0]+1,aweights=p[1])
        any(i.byte()) any(i.byte(),1) all(i.byte(),1,True) all(b,(0,1)) amin(b,1) amax(~b|(i>2),0)
        amax(i.byte(),1) max(i.byte()) max(i.byte(),1)
        amin(i.byte()+200,1) min(i.byte()+200) abs(i.byte()) max(~b&b)
        std(x,1,correction=6) linalg.vector_norm(x,1,())
    """,
    "order and number": """
        nanmedian(n) bucketize(n,v.sort()[0]) searchsorted(v.sort()[0],0.5)
        bucketize(0.5,v.sort()[0])
        argsort(x,descending=True) bincount(j,minlength=7) bucketize(x,v.sort()[0]) cummax(n,1)
        cummin(n,-2) cumprod(x,1) histc(x,bins=5,min=-2,max=2) histc(x,4) histc(x[:0],4) isin(i,j)
        kthvalue(n,2,1,True) logcumsumexp(x,0) median(n) median(n,1) median(x,-1,True) mode(i,1)
        msort(x) nanmedian(n,1) nanquantile(n,0.4) quantile(x,0.3,1)
        quantile(n,v[:3].sigmoid(),0,True) quantile(x,0.7,interpolation="midpoint")
        nanquantile(n,v[:2].sigmoid(),1,interpolation="nearest") searchsorted(v.sort()[0],x)
        searchsorted(v.sort()[0],x,right=True) sort(n,0) sort(i,dim=1,stable=True,descending=True)
        topk(x,3) topk(n,2,0,largest=False) topk(x,3,sorted=False)[0].sum(1)
        sdy.torch.unique(j,size=6,fill_value=-1,return_inverse=True,return_counts=True)
        cumsum(i*100,0,dtype=torch.uint8)
        nonzero_static(b,size=9) diff(x) renorm(x,2,0,1.0) histogram(x,4)
        histogram(x,v.sort()[0],weight=p,density=True)
        segment_reduce(v,"max",lengths=torch.tensor([1,0,3,2]))
        segment_reduce(y,"mean",lengths=torch.tensor([1,1,2]))
    """,
    "indices": """
        scatter(x,0,i,y,reduce="add") scatter(x,0,i,2.0,reduce="add")
        nn.functional.embedding(i,x,scale_grad_by_freq=True)
        embedding(x,i) gather(x,1,i) index_add(x,1,j,y[:,:5])
        index_copy(x,0,i[0,:2]*0+torch.arange(2),y[:2]) index_fill(x,1,j,2.0) index_put(x,(i[0],),v)
        index_reduce(x,1,j,y[:,:5],"amax") index_select(x,1,j) masked_fill(x,b,2.0)
        masked_scatter(x,b,y) masked_scatter(v,b,y)
        put(x,j,v[:5]) scatter(x,1,i,2.0) scatter(x,0,i[:1],y)
        scatter_add(x,1,i,y) scatter_reduce(x,1,i,y,"amax",include_self=False)
        scatter_reduce(x,0,i,y,"mean") scatter_reduce(x,1,i,y,"prod") select(x,1,2)
        select_scatter(x,v,0,1) slice_scatter(x,y[:2],0,1,3) take(x,j) take(x,j[0])
        take_along_dim(x,i,1) unravel_index(j,(2,3)) where(b,1.0,x) x[:,j]
        x[i-4] x[:,j-6] x[i[:,:1]-4,j-6] x[j%2-1,:,None] index_fill(x,1,j-6,2.0)
        index_fill(x,1,j-6,v[0])
        index_put(x,(i[0]-4,),v) index_put(x,(i[:,0]-4,i[0,:4]-3),v[:4],accumulate=True)
        x.clone().fill_diagonal_(2.0) x.T.clone().fill_diagonal_(2.0,wrap=True)
        nn.functional.one_hot(i,5)
        nn.functional.embedding(i,x.clone(),max_norm=1.0)
        nn.functional.embedding_bag(i,x,mode="mean")
        ops.aten._embedding_bag(x,i[0],torch.tensor([0,2,4]))[0]
        nn.functional.embedding_bag(i,x,mode="max",padding_idx=-1)
        nn.functional.embedding_bag(j%4,x,torch.tensor([0,2,2]),mode="sum") tril(x,1) triu(x)
    """,
    "shapes": """
        roll(x,5) roll(x,100,1) as_strided_scatter(x,v[:2],(2,),(3,))
        as_strided(x,(3,2),(6,2)) atleast_3d(x) block_diag(x,y) broadcast_to(v,(3,6))
        cartesian_prod(v,v[:2]) cat((x,y),1) chunk(x,2,1) column_stack((x,y))
        constant_pad_nd(x,(1,2),1.0) diag(v) diag_embed(x,1) diagonal(x,1) diagonal(m,-1,1,2)
        diagonal_scatter(x,v[:4]) expand_copy(v,(2,6)) flatten(m,1) flip(x,(0,)) hstack((x,y))
        meshgrid(v,v) movedim(m,0,2) narrow(x,1,1,3) permute(m,(2,0,1)) repeat_interleave(x,2,1)
        reshape(x,(3,8)) roll(x,2,1) roll(x,(1,-2),(0,1)) rot90(x) split(x,2) split(x,(1,3,2),-1)
        squeeze(x[:1]) stack((x,y)) swapaxes(x,0,1) tensor_split(x,3,1) tile(x,(2,1))
        transpose(x,0,1) unbind(x,1) unflatten(x,1,(2,3)) unsqueeze(x,1) view_copy(x,(6,4))
        vstack((x,y)) x.unfold(1,3,2) x.repeat(2,1) x.to(torch.float16)
        ops.aten._to_copy(x,dtype=torch.float64)
        nn.functional.fold(signal.reshape(2,12,4),(4,4),2,stride=2) nn.functional.unfold(image,3)
        nn.functional.pad(image,(1,2,0,1),mode="reflect")
        nn.functional.pad(image,(1,1,1,1),mode="replicate")
        nn.functional.pad(volume,(1,1,1,0,2,1),mode="reflect")
        nn.functional.pad(volume,(1,1,1,0,2,1),mode="replicate")
        nn.functional.pad(signal,(2,1),mode="circular") nn.functional.pad(x,(2,-1,0,3),value=7)
        arange(1,12,2)*v[0].long() arange(0.5,3.5,0.5)+v nn.functional.dropout(x,training=False)
        nn.functional.pixel_shuffle(volume[0,:,:4,:4,0].repeat(2,1,1),2)
        nn.functional.channel_shuffle(image.repeat(1,2,1,1),3) arange(5)+j eye(4,6)+x
        arange(-1,2,2,dtype=torch.uint8)+j[:2].byte()*0
        full((2,),3)+v[:2] linspace(0,1,6)+v linspace(4.7,-3,12,dtype=torch.int64)+j[0]
        linspace(i[0,0],v[0],9,dtype=torch.int32) linspace(0,7,50,dtype=torch.int64)+j[0]
        linspace(1j,-3,5)*v[0] ones(6)+v zeros_like(x) tril_indices(3,3)+j[0]
        scalar_tensor(2.0)+v empty_like(i)*0
        empty_strided((4,6),(6,1),dtype=torch.int64)*0+i
        permute_copy(x.sum(),())
    """,
    "products": """
        addbmm(m[0],m,m) addmm(x@x.mT,x,y.mT) addmv(v[:4],x,v) baddbmm(m,m,m) bmm(m,r)
        chain_matmul(x,y.mT) cross(x[:,:3],y[:,:3]) dot(v,v) einsum("bij,bjk->bki",m,r)
        einsum("ij,kj->ik",x,y) ger(v,v) inner(x,y) kron(v,v) linalg.multi_dot((x,y.mT,x))
        matmul(m,r) matmul(x,v) matmul(q,q.mT[:1]) mm(x,y.mT) mv(x,v) outer(v,v) tensordot(x,y,2)
        nn.functional.bilinear(x,y,signal[0,:2,:6].unsqueeze(1).repeat(1,6,1))
        nn.functional.linear(x,y,v[:4])
        _grouped_mm(x.bfloat16().repeat(2,4)[:,:16],image[0].bfloat16().repeat(1,2,1),torch.tensor([2,5,8],dtype=torch.int32))
        _grouped_mm(x.repeat(2,4)[:,:16],image[0].repeat(1,2,1),torch.tensor([2,5,8],dtype=torch.int32))
        _grouped_mm(image[0],x.repeat(2,4)[:,:16],torch.tensor([8,8,16],dtype=torch.int32))
        _grouped_mm(x.repeat(2,4)[:,:16],image[0].reshape(24,8)[:16],torch.tensor([8,8,16],dtype=torch.int32))
        _grouped_mm(image[0],image[1])
        cdist(x,y) cdist(x,y,1.0) pdist(x) nn.functional.cosine_similarity(x,y)
        addmm(v[:4],x,y.mT,beta=0.5,alpha=2) addmm(n@n.mT,x,y.mT,beta=0)
        nn.functional.pairwise_distance(x,y) nn.functional.pairwise_distance(c,c*2j,3.0)
        addmv(i[:,0],i,i.reshape(-1)[:6],alpha=1.5) addbmm(i,i[None,:,:4],i[None],beta=0.5)
    """,
    "attention and normalization": """
        nn.functional.scaled_dot_product_attention(q,q,q)
        nn.functional.scaled_dot_product_attention(q,q,q,is_causal=True)
        nn.functional.scaled_dot_product_attention(q,q,q,q[...,:5])
        nn.functional.scaled_dot_product_attention(q,q,q,q[...,:5]>0,scale=0.2)
        nn.functional.scaled_dot_product_attention(q,kv,kv,enable_gqa=True)
        nn.functional.batch_norm(image,v[:3],p[0,:3]) nn.functional.group_norm(image,3)
        nn.functional.instance_norm(image) nn.functional.layer_norm(x,(6,),v)
        nn.functional.group_norm(image.bfloat16(),3,v[:3].bfloat16(),p[0,:3].bfloat16())
        nn.functional.layer_norm(x.bfloat16(),(6,)) nn.functional.layer_norm(m,(4,4),m[0],m[1])
        ops.aten.native_layer_norm(x,[6],v,v,1e-5)
        ops.aten.native_group_norm(image,v[:3],None,2,3,64,1,1e-5)
        nn.functional.local_response_norm(image,2) nn.functional.normalize(x)
        nn.functional.rms_norm(x,(6,),v) nn.functional.cross_entropy(x,i[:,0])
        nn.functional.nll_loss(x,i[:,0]) nn.functional.mse_loss(x,y)
        nn.functional.binary_cross_entropy_with_logits(x,p) nn.functional.huber_loss(x,y)
        nn.functional.ctc_loss(image[0].permute(1,0,2).log_softmax(2),i[:3,:4]+1,j[:3]*0+7,j[:3]%5)
        nn.functional.ctc_loss(signal[0].log_softmax(1),j[:2]+1,(3,),(2,),reduction="sum")
        nn.functional.gaussian_nll_loss(x,y,p) nn.functional.gaussian_nll_loss(x,y,p[:,:1],True)
        nn.functional.multilabel_margin_loss(x,torch.tensor([1,3,-1,0,2,-1]).repeat(4,1))
        nn.functional.kl_div(x,p) nn.functional.smooth_l1_loss(x,y) nn.functional.l1_loss(x,y)
    """,
    "images": """
        nn.functional.conv1d(signal,signal[:,:,:3])
        nn.functional.conv2d(image,image[:,:,:3,:3],padding=1,stride=2)
        nn.functional.conv2d(image[0],image[:,:,:3,:3],v[:2],stride=(1,2),dilation=2)
        nn.functional.conv3d(volume,volume[:,:,:2,:2,:2])
        nn.functional.conv_transpose2d(image,image.mT[:,:,:3,:3][:1].transpose(0,1),stride=2)
        nn.functional.conv_transpose2d(q,kv.mT.reshape(4,1,8,5),None,(2,3),1,(1,2),2,(2,1))
        ops.aten.avg_pool1d(signal,[3]) ops.aten.avg_pool2d(image,[3])
        ops.aten.avg_pool3d(volume,[2])
        nn.functional.avg_pool1d(signal,3,2,ceil_mode=True)
        nn.functional.avg_pool2d(image,3,2,1,count_include_pad=False)
        nn.functional.avg_pool3d(volume,2,divisor_override=3)
        nn.functional.adaptive_avg_pool1d(signal,5) nn.functional.adaptive_avg_pool2d(image,(3,5))
        nn.functional.adaptive_avg_pool3d(volume,4)
        nn.functional.adaptive_max_pool2d(image,(3,5),return_indices=True)
        nn.functional.max_pool1d(signal,3) nn.functional.max_pool2d(image,3,2,1,ceil_mode=True)
        nn.functional.max_pool2d(image,3,2,1,2,return_indices=True)
        nn.functional.max_pool3d(volume,2,return_indices=True)
        nn.functional.max_unpool2d(*nn.functional.max_pool2d(image,2,return_indices=True),2)
        nn.functional.interpolate(signal,scale_factor=2) nn.functional.interpolate(image,(8,20))
        nn.functional.interpolate(volume,scale_factor=(1.5,2,1))
        nn.functional.interpolate(signal,7,mode="linear") nn.functional.interpolate(image,(5,11))
        nn.functional.interpolate(image,(5,11),mode="nearest-exact")
        nn.functional.interpolate(image,(5,11),mode="bilinear")
        nn.functional.interpolate(image,(5,11),mode="bilinear",align_corners=True)
        nn.functional.interpolate(image,(5,11),mode="bicubic")
        nn.functional.interpolate(image,(4,3),mode="area")
        nn.functional.interpolate(volume,(3,4,9),mode="trilinear")
        nn.functional.grid_sample(image,image[:,:2,:,:].permute(0,2,3,1))
        nn.functional.grid_sample(image,image[:,:2].permute(0,2,3,1),"bicubic")
        nn.functional.grid_sample(image,image[:,:2].permute(0,2,3,1),"bicubic","reflection")
        nn.functional.grid_sample(volume,volume.reshape(1,4,6,6,3),padding_mode="reflection")
        nn.functional.grid_sample(volume,volume.reshape(1,4,6,6,3),"nearest","border",True)
        nn.functional.interpolate(image,(5,11),mode="bilinear",antialias=True)
        nn.functional.interpolate(image,(5,3),mode="bicubic",antialias=True)
        nn.functional.interpolate((image.tanh()*99+99).byte(),(5,3),mode="bicubic",antialias=True)
        ops.aten.fractional_max_pool2d(image,[2,3],[4,3],p[:2,:3,None]*torch.tensor([0.7,0.8]))
        ops.aten.fractional_max_pool3d(volume,[2,2,2],[3,4,2],p[:1,:2,None]*torch.tensor([0.7,0.5,0.8]))
    """,
    "Fourier transforms and complex numbers": """
        fft.fft(x) fft.fft2(x) fft.fftn(volume,norm="ortho") fft.fftshift(x) fft.hfft(c)
        fft.ifft(c,8) fft.ifftn(c) fft.ihfft(x) fft.irfft(c) fft.irfft(c,9) fft.irfft2(c)
        fft.rfft(x,norm="forward") fft.rfftn(volume) fft.fftfreq(7,0.5)+v[0] fft.rfftfreq(6)+v[0]
        ops.aten._fft_r2c(x,[1],0,True) ops.aten._fft_c2r(c,[1],0,10)
        stft(signal[0],8,return_complex=True,window=torch.hann_window(8))
        bartlett_window(6)+v blackman_window(6)+v hamming_window(6,False)+v kaiser_window(6)+v
        istft(stft(signal[0],8,return_complex=True,window=torch.hann_window(8)),8,window=torch.hann_window(8))
        view_as_complex(x.reshape(4,3,2)) view_as_real(c)
        polar(p,x) polar(p,v) complex(x,y) conj(c)*c real(c)
        imag(c) abs(c) c*2j+1
        c+c*2 c/(c+3) c@c.mT exp(c) sum(c,1)
        acos(c) acosh(c) asin(c) asinh(c) atan(c) atanh(c*0.5) cosh(c) sinh(c) tan(c) reciprocal(c)
        eq(c,c*1) mean(c) mean(c,1,True) std(c,1) float_power(c,2) isclose(c,c+1e-9)
        x.to(torch.complex64) sum(c,1,dtype=torch.complex128) exp2(c) prod(c,1) cumsum(c,-1)
        cumsum(x,0,dtype=torch.complex128) eye(4,6,dtype=torch.complex128)*c
        isnan(complex(n,x)) isinf(complex(x,x/n*torch.inf)) isfinite(complex(n,x))
        masked_fill(c,b,1j) where(b,c,2j) linalg.det(c[:,:4])
        full((6,),-1j-torch.inf,dtype=torch.complex64).real+v
    """,
    "linear algebra": """
        ops.aten.norm.Scalar(x,2) lu_unpack(*linalg.lu_factor(m)) cholesky(spd)
        triangular_solve(r,spd) ormqr(*geqrf(m),r)
        linalg.cholesky(spd) linalg.cholesky(spd,upper=True) linalg.det(m) linalg.eigvalsh(spd)
        linalg.eigvals(m).abs().sort()[0] linalg.eigh(spd)[0] linalg.inv(m) linalg.lu(m)
        linalg.lu_solve(*linalg.lu_factor(m),r) linalg.matrix_exp(m*0.3) linalg.matrix_power(m,3)
        linalg.pinv(r) linalg.qr(r,mode="r")[1].abs() linalg.qr(r)[0].abs() linalg.slogdet(m)
        linalg.solve(m,r) linalg.solve_triangular(spd,r,upper=False) linalg.svdvals(r)
        linalg.svd(r,full_matrices=False)[0].abs() linalg.matrix_norm(m,"nuc") linalg.cond(m)
        linalg.svd(r[:,:0])[2] linalg.qr(r[:,:,:0],mode="complete")[0]
        linalg.householder_product(m,m[:,0,:0])
        cholesky_solve(r,linalg.cholesky(spd)) cholesky_inverse(linalg.cholesky(spd)) logdet(spd)
        linalg.matrix_rank(spd) linalg.tensorinv(m[0],1) linalg.lstsq(x,y)
        linalg.lstsq(x.mT,y.mT,driver="gelsd")
    """,
    "control flow": """
        cond(v.sum()>0,lambda a:a+1,lambda a:a*2,(v,))
        cond(v.sum()<=0,lambda a:a+1,lambda a:a*2,(v,))
        _higher_order_ops.while_loop(lambda k,a:k<3,lambda k,a:(k+1,a*2),(torch.tensor(0),v))
        _higher_order_ops.scan(lambda a,e:(a+e,a*e),v,x) vmap(lambda a:a.sin()+a.sum())(x)
    """,
    "numbers taken out of tensors": """
        x.sum().item() add(x,y,alpha=v[0].item()) clamp(x,-1,v[1].item()) div(x,v[1].item()**2+2)
        full((3,),v[0].item()*2-1) gt(x,v[0].item()) pow(p,i[0,1].item())
        masked_fill(x,b,v[2].item()) select(x,1,i[0,2].item()) where(b,x,v[3].item())
        mul(i,v[1].item()//0.25) x[j[1].item()%4] sub(x,i[0,2].item()/3)
    """,
    "derivatives": """
        ops.aten.avg_pool2d_backward(image[:,:,:4,:4],image,[2,2],[2,2],[0,0],False,True,None)
        ops.aten.embedding_dense_backward(q[0],i[:,:5],7,-1,False)
        ops.aten.native_layer_norm_backward(x,y,[6],x.mean(1,True),p[:,:1].clone(),v,v,[True,True,True])
        ops.aten.convolution_backward(image[:,:2,:6,:6],image,image[:2,:,:3,:3],[2],[1,1],[0,0],[1,1],False,[0,0],1,[True,True,True])
        ops.aten.convolution_backward(nn.functional.pad(signal,(0,3)),signal,signal[0,:,:4].unsqueeze(1),[3],[1],[3],[1],False,[0],3,[True,True,True])
        ops.aten.convolution_backward(q.repeat(1,1,3,2)[:,:2,:14,:13],q,kv.mT[:,:,:,:3].reshape(4,1,8,3),None,[2,2],[1,2],[1,1],True,[0,0],2,[True,True,False])
        ops.aten.convolution_backward(volume[:,:1,:4,:5,:3],volume[:,:,:,:5],volume[:,:,:3,:3,:2],None,[1,1,2],[0,1,0],[1,1,1],False,[0,0,0],1,[True,True,False])
        ops.aten._softmax_backward_data(x,y,1,torch.float32) ops.aten.threshold_backward(x,y,0)
        ops.aten.gelu_backward(x,y) ops.aten._adaptive_avg_pool2d_backward(image[:,:,:3,:5],image)
        ops.aten.max_pool2d_with_indices_backward(image[:,:,:4,:4],image,[2,2],[2,2],[0,0],[1,1],False,nn.functional.max_pool2d(image,2,return_indices=True)[1])
        ops.aten.native_group_norm_backward(image,image,p[:2,:3].clone(),p[2:,:3].clone(),v[:3],2,3,64,3,[True,True,True])
    """,
}
"""Calls by family, separated by blanks; a name without `torch.` in front is one of `torch`."""

RANDOM = """
    normal(2.0,3.0,(4,)) randint_like(i,2,7) x.clone().geometric_(0.5) x.clone().log_normal_()
        bernoulli(p*0.5) multinomial(p,3) multinomial(p,8,True) normal(x,p) rand_like(x)
        randint_like(x,5) randn_like(x) nn.functional.dropout(x) x.clone().exponential_()
        x.clone().uniform_() nn.functional.fractional_max_pool2d(image,2,4)
        x.clone().cauchy_() nn.functional.rrelu(x,training=True) randperm(6)
        nn.functional.scaled_dot_product_attention(q,q,q,dropout_p=0.5)
"""
"""Calls with random results, of which only types are compared."""

REFUSED_OF_CORE = {
    "aten._local_scalar_dense": "it takes a number out of a tensor",
    "aten.nonzero": "the shape of its result depends on values",
    "aten.resize_": "it changes the size of memory, which values don't have",
    "aten.sym_is_contiguous": "shapes are fixed, so that its result is a number",
    "aten.sym_numel": "shapes are fixed, so that its result is a number",
    "aten.sym_size": "shapes are fixed, so that its result is a number",
    "aten.sym_storage_offset": "shapes are fixed, so that its result is a number",
    "aten.sym_stride": "shapes are fixed, so that its result is a number",
}
"""The operations of PyTorch's core that are never in a program, with the reasons."""

REFUSED = """
        nonzero(x) argwhere(b) masked_select(x,b) x[b] unique(i) unique_consecutive(j) bincount(j)
        ones(j[0].item()) equal(x,y) allclose(x,y) linalg.ldl_factor(spd)
        special.airy_ai(x) special.hermite_polynomial_h(x,i) x.to_sparse() x.to_sparse_csr()
        view_as_complex(x.half().reshape(4,3,2))
        x*float(v.sum()) x*int(v.sum()) x*math.sqrt(v.sum().item()) y.numpy() (v.sum()>0)or(x)
"""
"""Calls that StableHLO can't express, or that have no conversion."""


_DESCRIBED = {
    "x[b]": "indexing by a mask",
    "x*float(v.sum())": "float",
    "x*int(v.sum())": "int",
    "x*math.sqrt(v.sum().item())": "math.sqrt",
    "(v.sum()>0)or(x)": "or",
    "y.numpy()": "Tensor.numpy",
}
"""Calls that aren't those of an operation, with their names."""


def calls_of(text: str) -> list[str]:
    """Return the calls in a text, which contain no blanks outside of lambdas."""
    joined: list[str] = []
    for word in text.split():
        if joined and joined[-1].count("(") > joined[-1].count(")"):
            joined[-1] += f" {word}"
        else:
            joined.append(word)
    return joined


_OF_PYTHON = {"float": float, "int": int, "math": math}
"""Names that `torch` has with another meaning, or not at all."""


def evaluate(call: str, values: dict[str, torch.Tensor]) -> Any:
    """Return the result of a call, whose text Python's frames refer to."""
    import pyshardy as sdy  # noqa: PLC0415

    name = f"<call {call}>"
    linecache.cache[name] = len(call), None, [call], name
    names = {**vars(torch), **_OF_PYTHON, "torch": torch, "sdy": sdy, **values}
    return eval(compile(call, name, "eval"), names)


def operation_of(call: str) -> str:
    """Return the name of the operation of a call, for people."""
    name = call.partition("(")[0]
    if call in _DESCRIBED:
        return _DESCRIBED[call]
    if call.startswith(("x[", "c+", "c/", "c@")):
        return {"x[": "indexing", "c+": "+", "c/": "/", "c@": "@"}[call[:2]]
    if name.startswith(("x.", "c.")):
        return f"Tensor.{call.rpartition('(')[0].rpartition('.')[2]}"
    return name if name.startswith("sdy.") else f"torch.{name}"
